/** Which rows of a long list are drawn. All rows have one height, so positions are arithmetic. */
export interface Window {
  first: number;
  /** Past the last one. */
  end: number;
  before: number;
  after: number;
}

export function windowOf(rows: number, rowHeight: number, scrollTop: number, viewHeight: number, overscan = 4): Window {
  const first = Math.max(0, Math.min(rows, Math.floor(scrollTop / rowHeight)) - overscan);
  const end = Math.min(rows, Math.ceil((scrollTop + viewHeight) / rowHeight) + overscan);
  return { first, end, before: first * rowHeight, after: (rows - end) * rowHeight };
}
