import { describe, expect, test } from 'vitest';
import { jumped, measured, movedUp, scrolled, sent, startFollowing, target, type Following, type Measured } from './following';

const at = (top: number, height: number, viewport = 100): Measured => ({ top, height, viewport });

/** A transcript that shows its end. */
const following: Following = measured(startFollowing, at(400, 500));

describe('following', () => {
  test('goes to the end as content grows', () => {
    expect(target(following, at(400, 560), undefined)).toBe(460);
  });

  test('stays if nothing is below', () => {
    expect(target(following, at(400, 500), undefined)).toBeUndefined();
  });

  test.each([
    ['the wheel, touch or PageUp', movedUp(following)],
    ['the scrollbar', scrolled(following, at(399, 500), true)],
  ])('%s upward releases it, even by a pixel', (_, released) => {
    expect(released.latched).toBe(false);
    expect(target(released, at(399, 900), undefined)).toBeUndefined();
  });

  test('a position near the end is not the end', () => {
    const released = movedUp(following);
    const near = scrolled(measured(released, at(300, 500)), at(390, 500), true);
    expect(near.latched).toBe(false);
  });

  test('scrolling down to the end sets it', () => {
    const released = measured(movedUp(following), at(300, 500));
    expect(scrolled(released, at(400, 500), true).latched).toBe(true);
    expect(scrolled(released, at(400, 500), false).latched).toBe(false);
  });

  test('sending and Jump to latest set it', () => {
    expect(sent(movedUp(following)).latched).toBe(true);
    expect(jumped(movedUp(following)).latched).toBe(true);
  });

  test('content that shrinks neither scrolls nor releases', () => {
    const shrunk = scrolled(following, at(300, 400), false);
    expect(shrunk.latched).toBe(true);
    expect(target(following, at(300, 400), undefined)).toBeUndefined();
  });

  test('content that shrinks and grows again between two frames is not a move by the reader', () => {
    expect(scrolled(following, at(350, 500), false).latched).toBe(true);
  });

  test('a long answer stops once its first line is at the top', () => {
    expect(target(following, at(400, 560), 480)).toBe(460);
    expect(target(following, at(460, 900), 480)).toBe(480);
    expect(target(following, at(480, 1400), 480)).toBeUndefined();
  });

  test('Jump to latest goes on to the end of a long answer', () => {
    const insisting = jumped(following);
    expect(target(insisting, at(480, 1400), 480)).toBe(1300);
    expect(target(sent(insisting), at(480, 1400), 480)).toBeUndefined();
  });

  test('our own scroll changes nothing', () => {
    expect(scrolled(measured(following, at(400, 560)), at(460, 560), false)).toMatchObject({ latched: true, insists: false });
  });
});
