import createClient from 'openapi-fetch';
import { Problem, isAbort, problemFrom, problemOf, unreachable } from './problem';
import type { components, paths } from './schema';

export type Schemas = components['schemas'];
export type Kind = Schemas['ListItem']['kind'];
export type Scope = Schemas['ListItem']['scope'];
export type ListItem = Schemas['ListItem'];

/** The JSON body that `POST` to a path takes. */
export type Body<P extends keyof paths> = paths[P] extends { post: { requestBody?: { content: { 'application/json': infer B } } } } ? B : never;

/** An entity as `GET /api/library/{kind}/{name}` answers it; its fields depend on the kind. */
export type Entity = Schemas['AnyDocument'] & Record<string, unknown>;

/** The typed client: `ask(api.GET('/api/models'))`. Paths and bodies are checked against openapi.json. */
export const api = createClient<paths>({
  baseUrl: '',
  querySerializer: { array: { style: 'form', explode: true } },
  fetch: (request) => fetch(request),
});

export interface Answer<T> {
  data: T;
  etag: string | null;
  status: number;
}

/** Awaits a call of `api` and throws a `Problem` if it failed. */
export async function ask<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<Answer<T>> {
  let outcome;
  try {
    outcome = await call;
  } catch (error) {
    if (isAbort(error)) throw error;
    throw unreachable();
  }
  const { data, error, response } = outcome;
  if (!response.ok) throw problemFrom(response.status, error);
  return { data: data as T, etag: response.headers.get('etag'), status: response.status };
}

/** A request outside of the generated types: for paths that are no operations, such as `/healthz`. */
export async function request<T>(
  method: string,
  path: string,
  options: { body?: unknown; headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Answer<T>> {
  const headers: Record<string, string> = { accept: 'application/json', ...options.headers };
  if (options.body !== undefined) headers['content-type'] = 'application/json';
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers,
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
      signal: options.signal,
    });
  } catch (error) {
    if (isAbort(error)) throw error;
    throw unreachable();
  }
  if (!response.ok) throw await problemOf(response);
  const type = response.headers.get('content-type') ?? '';
  if (response.status !== 204 && !type.includes('json')) {
    // A server without this path may answer with the page itself.
    throw new Problem(404, { detail: `This server has no ${method} ${path}.`, code: 'unknown_path' });
  }
  const data = response.status === 204 ? undefined : await response.json();
  return { data: data as T, etag: response.headers.get('etag'), status: response.status };
}
