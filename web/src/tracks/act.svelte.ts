import { asProblem, type Problem } from '../api/problem';

/** Something that the reader does: busy while it is under way, with the problem beside it if it fails. */
export class Act {
  busy = $state(false);
  problem = $state.raw<Problem | undefined>();

  /** True if the work succeeded. A second click while it is under way does nothing. */
  async run(work: () => Promise<unknown>): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    this.problem = undefined;
    try {
      await work();
      return true;
    } catch (error) {
      this.problem = asProblem(error);
      return false;
    } finally {
      this.busy = false;
    }
  }
}
