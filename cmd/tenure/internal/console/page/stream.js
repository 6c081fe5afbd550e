// The connection to the sidecar. What it tells is told as it comes, and never as fresh when it is not.

const key = 'tenure-token';

// Token is kept for as long as the tab is open, and sent with every request. No cookie has it, so no other page's
// request bears it.
export const token = {
  get: () => sessionStorage.getItem(key) ?? '',
  set: (value) => sessionStorage.setItem(key, value),
  forget: () => sessionStorage.removeItem(key),
};

function headers(more) {
  return token.get() ? { ...more, Authorization: `Bearer ${token.get()}` } : more;
}

const where = (path) => new URL(`../v1/${path}`, document.baseURI);

// ask has the sidecar do something, and returns its answer. It throws what the sidecar says against it.
export async function ask(election, action, body) {
  let response;
  try {
    response = await fetch(where(`elections/${encodeURIComponent(election)}/${action}`), {
      method: 'POST', headers: headers({ 'Content-Type': 'application/json' }), body: JSON.stringify(body),
      cache: 'no-store', redirect: 'error', signal: AbortSignal.timeout(30000),
    });
  } catch (e) {
    throw new Error(e.name === 'TimeoutError'
      ? 'The sidecar has not answered within 30 s. Whether it did what was asked, the election will show.'
      : 'The sidecar cannot be reached. Whether it did what was asked, the election will show.');
  }
  if (!response.ok) throw new Error(await complaint(response));
  return response.json();
}

// complaint is what an answer that refuses says.
async function complaint(response) {
  try {
    return (await response.json()).error;
  } catch {
    return `The sidecar answered ${response.status}.`;
  }
}

// Stream follows the sidecar and connects again whenever that is needed. It tells
//   connected(), lost(why, detail), denied(wrong), event(e, age) with the age of what the event says in milliseconds.
export class Stream {
  #on;
  #abort = null;
  #timer = 0;
  #tries = 0;
  #beat = 2000;
  #skew = Infinity; // wall clock here, less that of the sidecar, at the quickest event so far
  #heard = 0; // when the last event came, by the clock that nobody sets
  #heardWall = 0; // the same by the one that counts while the machine sleeps
  live = false;
  next = 0; // when it tries again

  constructor(on) {
    this.#on = on;
    setInterval(() => this.fresh(), 250);
    addEventListener('online', () => this.retry());
    addEventListener('visibilitychange', () => document.hidden || this.fresh() || this.retry());
  }

  // fresh tells whether what was shown last may still be shown as true, and notices if it may not.
  fresh() {
    if (!this.live) return false;
    if (this.silence() <= 2.5 * this.#beat) return true;
    this.#lose('silent');
    return false;
  }

  // silence is for how long nothing was heard, a sleep of the machine included.
  silence() {
    return Math.max(performance.now() - this.#heard, Date.now() - this.#heardWall);
  }

  // retry connects at once, unless it is connected.
  retry() {
    if (!this.live) this.connect();
  }

  async connect() {
    clearTimeout(this.#timer);
    this.#abort?.abort();
    const abort = this.#abort = new AbortController();
    const late = setTimeout(() => abort.abort(), 10000);
    try {
      const response = await fetch(where('events'), {
        headers: headers({ Accept: 'application/x-ndjson' }), cache: 'no-store', redirect: 'error', signal: abort.signal,
      });
      clearTimeout(late);
      if (abort !== this.#abort) return;
      if (response.status === 401) {
        const wrong = token.get() !== '';
        token.forget();
        this.#on.denied(wrong);
        return;
      }
      if (!response.ok) throw new Error(await complaint(response));
      await this.#read(response, abort);
      if (abort === this.#abort) this.#lose('ended');
    } catch (e) {
      clearTimeout(late);
      if (abort === this.#abort) this.#lose(e instanceof TypeError || e.name === 'AbortError' ? 'unreachable' : 'refused', e.message);
    }
  }

  async #read(response, abort) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    this.#skew = Infinity;
    for (;;) {
      const { value, done } = await reader.read();
      if (done || abort !== this.#abort) return;
      const lines = (rest + value).split('\n');
      rest = lines.pop();
      for (const line of lines) {
        if (!this.#take(JSON.parse(line))) return;
      }
    }
  }

  // take tells of an event, unless it comes so late that it was on its way while this page slept.
  #take(e) {
    const apart = Date.now() - Date.parse(e.at);
    this.#skew = Math.min(this.#skew, apart);
    const age = apart - this.#skew;
    if (age > 2.5 * this.#beat) {
      this.#lose('silent');
      return false;
    }
    this.#heard = performance.now();
    this.#heardWall = Date.now();
    if (e.event === 'sidecar') {
      this.#beat = e.beat_ms;
      this.#tries = 0;
      this.live = true;
      this.#on.connected();
    }
    this.#on.event(e, age);
    return true;
  }

  #lose(why, detail) {
    this.live = false;
    this.#abort?.abort();
    this.#abort = null;
    const wait = this.#tries === 0 ? 250 : Math.min(5000, 500 * 2 ** Math.min(this.#tries, 4));
    this.#tries++;
    clearTimeout(this.#timer);
    this.next = Date.now() + wait;
    this.#timer = setTimeout(() => this.connect(), wait);
    this.#on.lost(why, detail);
  }
}
