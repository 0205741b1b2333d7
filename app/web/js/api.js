/** Calls of the HTTP API. Every failure is a Trouble with a sentence for people. */

const RETRY_MILLISECONDS = 2000;

/** A look whether the server is back is given up after so long: its connection may hang. */
const LOOK_MILLISECONDS = 5000;

export class Trouble extends Error {
  constructor(text, code) {
    super(text);
    this.code = code;
  }
}

/** Return the whole envelope of a GET; absent parameters are left out. */
export async function get(path, parameters = {}, signal = undefined) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== "" && value !== false) query.append(name, value);
  }
  const address = query.size ? `${path}?${query}` : path;
  return read(() => fetch(address, { signal, headers: { Accept: "application/json" } }));
}

/** Send a POST without a body. */
export async function post(path) {
  return read(() => fetch(path, { method: "POST" }));
}

async function read(send) {
  let response;
  try {
    response = await send();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Trouble("unreachable", "unreachable");
  }
  let envelope;
  try {
    envelope = await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Trouble(`HTTP ${response.status}`, "invalid_answer");
  }
  if (envelope.success !== true) throw new Trouble(envelope.error || `HTTP ${response.status}`, envelope.code);
  return envelope;
}

/** Resolve once the server answers again. */
export async function untilBack() {
  for (;;) {
    await new Promise((done) => setTimeout(done, RETRY_MILLISECONDS));
    try {
      await get("/api/health", {}, AbortSignal.timeout(LOOK_MILLISECONDS));
      return;
    } catch {
      // Still away.
    }
  }
}
