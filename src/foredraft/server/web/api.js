// The server's interface. Addresses are relative, so that a proxy may put it anywhere.

import { recall } from "./memory.js";
import { events } from "./sse.js";

/** What went wrong, as a text's key and its values. */
export class Problem extends Error {
  constructor(key, values = {}) {
    super(key);
    this.key = key;
    this.values = values;
  }
}

async function refused(response) {
  const { error } = await response.json().catch(() => ({}));
  const message = error?.message ?? `HTTP ${response.status}`;
  if (response.status === 401) return new Problem("error.key");
  if (response.status === 429) {
    return new Problem("error.busy", { seconds: response.headers.get("Retry-After") ?? 1 });
  }
  if (response.status === 503) return new Problem("error.closing");
  return new Problem("error.refused", { message });
}

async function call(path, { body, signal } = {}) {
  const key = recall("key", "sessionStorage");
  const headers = { "Content-Type": "application/json" };
  if (key) headers.Authorization = `Bearer ${key}`;
  const method = body ? "POST" : "GET";
  let response;
  try {
    response = await fetch(path, { method, headers, signal, body: body && JSON.stringify(body) });
  } catch (error) {
    throw error.name === "AbortError" ? error : new Problem("error.gone");
  }
  if (!response.ok) throw await refused(response);
  return response;
}

export const status = async () => (await call("foredraft/status")).json();
export const replay = async (body) => (await call("foredraft/replay", { body })).json();

/** The chunks of a streamed answer; a Problem when the connection breaks. */
export async function* chat(body, signal) {
  const response = await call("v1/chat/completions", { body, signal });
  try {
    for await (const event of events(response.body)) {
      if (event.error) throw new Problem("error.refused", { message: event.error.message });
      yield event;
    }
  } catch (error) {
    if (error instanceof Problem || error.name === "AbortError") throw error;
    throw new Problem("error.dropped");
  }
}
