import { api, ask, type Body, type Schemas } from '../api/client';
import { Problem, asProblem } from '../api/problem';
import { streamPost } from '../api/stream';
import { began, changesOf, emptyLog, heard, type AgentEvent, type EditLog } from './edits';
import { OpenProposals } from './proposals.svelte';
import { turnOf, type Turn } from './turns';

interface Hooks {
  /** A tool changed something: the editor reads again. */
  onchanged: () => void;
  onrunning: (running: boolean) => void;
  oncontent: () => void;
  onmatter: (open: boolean) => void;
}

/** How often a run whose stream was lost is asked for, and how long. */
const POLL_MS = 1_500;
const POLL_LIMIT = 400;

/** The conversation about one persona. Text arrives in pieces and is shown once a frame. */
export class Agent {
  log = $state.raw<EditLog>(emptyLog);
  loaded = $state(false);
  /** Why the history or a request failed; the log's own `error` is what the agent said. */
  problem = $state.raw<Problem | undefined>();
  /** True while the stream is lost and the page waits for the run's turns. */
  recovering = $state(false);
  sends = $state(0);
  undone = $state(false);
  /** What waits for the person's decision. */
  readonly open: OpenProposals;
  /** Changes since the last message: by the agent, and by proposals of it that were applied. */
  changes = $derived.by(() => this.#applied + (this.#planned || this.open.proposal ? 0 : Math.max(0, changesOf(this.log.turns) - this.#asked)));

  readonly personaId: string;
  #applied = $state(0);
  /** True if the last message asked for a proposal only. */
  #planned = $state(false);
  /** Questions since the last message. Their calls changed nothing. */
  #asked = $state(0);
  #hooks: Hooks;
  #now: EditLog = emptyLog;
  #frame = 0;
  #abort = new AbortController();

  constructor(personaId: string, hooks: Hooks) {
    this.personaId = personaId;
    this.#hooks = hooks;
    this.open = new OpenProposals(personaId, this.#abort.signal);
  }

  close(): void {
    this.#abort.abort();
    cancelAnimationFrame(this.#frame);
  }

  async load(): Promise<void> {
    try {
      const [turns] = await Promise.all([this.#history(), this.refreshOpen()]);
      // A message that was sent meanwhile is newer than this history.
      if (!this.#now.running) this.#set({ ...emptyLog, turns });
      this.problem = undefined;
    } catch (error) {
      if (!this.#abort.signal.aborted) this.problem = asProblem(error);
    } finally {
      this.loaded = true;
    }
  }

  async send(message: string, plan: boolean): Promise<void> {
    if (this.#now.running) return;
    this.problem = undefined;
    this.undone = false;
    this.#planned = plan;
    this.#applied = 0;
    this.#asked = 0;
    this.sends += 1;
    const known = new Set(this.open.questions.map(({ id }) => id));
    this.#set(began(this.#now, `sent-${crypto.randomUUID()}`, message));
    this.#matter();
    this.#hooks.onrunning(true);
    try {
      const body: Body<'/api/persona-agent/chat'> = { personaId: this.personaId, message, ...(plan ? { plan } : {}) };
      for await (const event of streamPost('/api/persona-agent/chat', body, this.#abort.signal)) {
        this.#hear(event.data);
        if (!this.#now.running) break;
      }
      if (this.#now.running && !this.#abort.signal.aborted) await this.#recover();
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      const problem = asProblem(error);
      // A request that was refused sent nothing; a connection that broke may have.
      if (problem.status === 0) await this.#recover();
      else this.#fail(problem);
    } finally {
      if (!this.#abort.signal.aborted) {
        await this.refreshOpen();
        this.#asked = this.open.questions.filter(({ id }) => !known.has(id)).length;
        this.#hooks.onrunning(false);
      }
    }
  }

  /** Reads what waits for a decision. */
  async refreshOpen(): Promise<void> {
    await this.open.refresh();
    this.#matter();
  }

  /** Applies exactly what is shown. Returns how many entities changed. */
  async apply(id: string): Promise<number | undefined> {
    const applied = await this.open.apply(id);
    if (applied !== undefined) {
      this.#applied += applied;
      this.undone = false;
      this.#hooks.onchanged();
    }
    this.#matter();
    return applied;
  }

  async dismiss(id: string): Promise<void> {
    await this.open.dismiss(id);
    this.#matter();
  }

  async clear(): Promise<void> {
    try {
      await ask(api.POST('/api/persona-agent/clear', { body: { personaId: this.personaId } }));
      this.#set(emptyLog);
      this.problem = undefined;
      this.#applied = 0;
      this.open.forget();
      this.#matter();
    } catch (error) {
      this.#fail(asProblem(error));
    }
  }

  /** Takes the agent's last turn back. The answer says what stays, because others changed it since. */
  async undo(): Promise<Schemas['UndoneTurn'] | undefined> {
    try {
      const { data } = await ask(api.POST('/api/persona-agent/undo', { body: { personaId: this.personaId } }));
      this.undone = true;
      this.#hooks.onchanged();
      return data;
    } catch (error) {
      this.#fail(asProblem(error));
      return undefined;
    }
  }

  #fail(problem: Problem): void {
    this.#set({ ...this.#now, running: false, open: '' });
    this.problem = problem.unsupported
      ? new Problem(problem.status, { detail: 'This server has no editing agent yet. Update masque, or edit the persona by hand.', code: 'unsupported' })
      : problem;
    this.#matter();
  }

  /** An error, a proposal and a question keep the panel. */
  #matter(): void {
    this.#hooks.onmatter(this.#now.error !== undefined || this.problem !== undefined || this.open.count > 0);
  }

  #hear(data: string): void {
    const event = JSON.parse(data) as AgentEvent;
    const next = heard(this.#now, event);
    if (event.type === 'text_delta') {
      this.#now = next;
      // Once a frame, however fast the pieces come. A hidden tab paints nothing and shows all at once later.
      if (this.#frame === 0) this.#frame = requestAnimationFrame(() => ((this.#frame = 0), this.#show()));
      return;
    }
    this.#set(next);
    if (event.type === 'tool_result' && !event.isError) this.#hooks.onchanged();
    if (event.type === 'error') this.#matter();
  }

  #set(log: EditLog): void {
    this.#now = log;
    this.#show();
  }

  #show(): void {
    this.log = this.#now;
    this.#hooks.oncontent();
  }

  async #history(): Promise<Turn[]> {
    const query = { personaId: this.personaId };
    const { data } = await ask(api.GET('/api/persona-agent/history', { params: { query }, signal: this.#abort.signal }));
    return data.turns.map(turnOf);
  }

  /** The stream is lost, but the run goes on at the server: waits for its turns. No turn is lost, because
   * the history has them all, and none is doubled, because it replaces what was heard. */
  async #recover(): Promise<void> {
    this.recovering = true;
    try {
      for (let tries = 0; tries < POLL_LIMIT && !this.#abort.signal.aborted; tries += 1) {
        const turns = await this.#history().catch(() => undefined);
        const running = turns ? await this.#isRunning() : true;
        if (turns && !running) {
          const arrived = turns.some((turn) => turn.type === 'user' && turn.content === lastMessage(this.#now));
          this.#set({ turns, open: '', running: false, error: arrived ? undefined : 'The connection was lost before the message arrived. Send it again.' });
          this.#matter();
          this.#hooks.onchanged();
          return;
        }
        if (turns) this.#set({ ...this.#now, turns, open: '' });
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    } finally {
      this.recovering = false;
    }
  }

  async #isRunning(): Promise<boolean> {
    try {
      const { personaId } = this;
      const { data } = await ask(api.GET('/api/storage/personas/{personaId}', { params: { path: { personaId } } }));
      if (!data.agentChatSessionId) return false;
      const session = await ask(api.GET('/api/sessions/{id}', { params: { path: { id: data.agentChatSessionId } } }));
      return session.data.status === 'running';
    } catch (error) {
      return asProblem(error).status === 0;
    }
  }
}

function lastMessage(log: EditLog): string {
  const turn = log.turns.findLast((one) => one.type === 'user');
  return turn?.type === 'user' ? turn.content : '';
}
