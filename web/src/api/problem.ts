/** What the server said about a failed request, as the problem document (RFC 9457) has it. */
export interface ProblemDocument {
  title?: string;
  status?: number;
  detail: string;
  code?: string;
  candidates?: string[];
  current_revision?: number;
  may_have_happened?: boolean;
  /** Some problems name more: users of an entity, the subject, remedies. */
  [key: string]: unknown;
}

/** A request that failed. `message` is the server's own sentence; show it beside what caused it. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly candidates: string[];
  readonly document: ProblemDocument;

  constructor(status: number, document: ProblemDocument) {
    super(document.detail);
    this.name = 'Problem';
    this.status = status;
    this.code = document.code ?? '';
    this.candidates = document.candidates ?? [];
    this.document = document;
  }

  /** True if the request may succeed when sent again as it is. */
  get retryable(): boolean {
    return this.status === 0 || this.status === 503;
  }

  /** True if the server has no such path: an older server than this page. */
  get unsupported(): boolean {
    return (this.status === 404 && ['', 'unknown_path', 'unknown_address'].includes(this.code)) || this.status === 405;
  }
}

export function unreachable(): Problem {
  return new Problem(0, {
    detail: 'The server does not answer. Start it with `masque serve`, then try again; what you typed is kept.',
    code: 'unreachable',
  });
}

/** The problem of a failed response, also where the body is no problem document. */
export async function problemOf(response: Response): Promise<Problem> {
  let body: unknown;
  try {
    body = await response.clone().json();
  } catch {
    body = undefined;
  }
  return problemFrom(response.status, body);
}

export function problemFrom(status: number, body: unknown): Problem {
  if (body !== null && typeof body === 'object' && typeof (body as ProblemDocument).detail === 'string') {
    return new Problem(status, body as ProblemDocument);
  }
  return new Problem(status, { detail: `The server answered ${status} without saying why.` });
}

/** Any thrown value as a problem, so that a view renders one shape. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof TypeError) return unreachable();
  return new Problem(0, { detail: error instanceof Error ? error.message : String(error) });
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
