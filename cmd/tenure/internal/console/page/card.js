// One election: who leads, for how long that is certain, what happened, and what can be asked.

import { set, show, make, printable, failure, clock, rough, exact, hue } from './text.js';
import { Past } from './terms.js';

const states = {
  held: ['held', 'held'], vacant: ['vacant', 'vacant'], paused: ['paused', 'paused'], silent: ['silent', 'silent'],
  abandoned: ['abandoned', 'silent'], forgotten: ['forgotten', 'unknown'], missing: ['not begun', 'vacant'],
  unknown: ['unknown', 'unknown'],
};

const nobody = {
  vacant: 'Nobody leads', paused: 'Nobody may lead', missing: 'Nobody has ever led', forgotten: 'Nobody leads',
  unknown: 'Nobody knows',
};

export class Card {
  #$; #past; #e = null;
  #heard = 0; // when the leader was heard of last, by the clock of this page
  #told = 0; // the second that was last told to screen readers
  #facts = ''; #company = '';
  answer = null;

  constructor(name, act) {
    const root = document.getElementById('card').content.cloneNode(true).firstElementChild;
    this.root = root;
    this.name = name;
    root.dataset.election = name;
    this.#$ = (selector) => root.querySelector(selector);
    set(this.#$('.name'), printable(name));
    const id = `election-${Card.#count++}`;
    this.#$('h2').id = id;
    root.setAttribute('aria-labelledby', id);
    this.#past = new Past(root);
    for (const action of ['transfer', 'resign', 'pause', 'resume']) {
      const button = this.#$(`.buttons .${action}`);
      button.id = `${id}-${action}`;
      button.setAttribute('aria-labelledby', `${button.id} ${id}`);
      button.addEventListener('click', () => act(this, action));
    }
  }

  static #count = 0;

  get election() { return this.#e; }

  // known are all who may be asked to lead: this sidecar's candidates, and who has led before.
  get known() {
    const own = this.#e.candidates.filter((c) => c.state !== 'stopped').map((c) => [c.id, 'stands through this sidecar']);
    const rest = this.#past.leaders.map((id) => [id, 'has led before']);
    const all = new Map([...rest, ...own]);
    all.delete(this.#e.leader);
    return [...all].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  get troubled() {
    return Boolean(this.#e && (this.#e.error || !['held', 'paused'].includes(this.#e.state)));
  }

  take(e, age) {
    this.#e = e;
    this.#heard = performance.now() - age - e.unchanged_ms;
    this.#past.take(e.changes, e.event === 'first');
    this.#badge(e);
    this.#who(e);
    this.#wish(e);
    this.#candidates(e);
    const led = e.leader !== '';
    this.#$('.transfer').disabled = this.#$('.resign').disabled = !led;
    show(this.#$('.pause'), !e.pause);
    show(this.#$('.resume'), Boolean(e.pause));
  }

  #badge(e) {
    const [word, icon] = states[e.state] ?? [e.state, 'unknown'];
    this.root.dataset.state = e.error ? 'failing' : e.state;
    set(this.#$('.state'), e.error ? 'out of sight' : word);
    this.#$('.badge use').setAttribute('href', `#i-${e.error ? 'trouble' : icon}`);
    show(this.#$('.failure'), Boolean(e.error));
    set(this.#$('.failure-text'), e.error ? `The store fails: ${failure(e.error)}. What follows was seen before that.` : '');
  }

  #who(e) {
    const led = e.leader !== '';
    set(this.#$('.leader'), led ? printable(e.leader) : nobody[e.state] ?? 'Nobody leads');
    this.#$('.who').classList.toggle('nobody', !led);
    this.#$('.swatch').style.setProperty('--hue', hue(e.leader));
    show(this.#$('.here'), led && e.candidates.some((c) => c.own && c.id === e.leader && c.state === 'leader'));
    const facts = e.token > 0 ? [['Token', String(e.token), 'number']] : [];
    if (led && e.elected_at) facts.push(['Leads since', clock(new Date(e.elected_at)), 'since']);
    if (e.address) facts.push(['Address', printable(e.address), 'address']);
    for (const [k, v] of Object.entries(e.metadata ?? {})) facts.push([printable(k), printable(v), 'meta']);
    const key = JSON.stringify(facts);
    if (key !== this.#facts) {
      this.#facts = key;
      this.#$('.facts').replaceChildren(...facts.map(([name, value, style]) => {
        const fact = make('div', style), text = make('dd');
        text.append(make('bdi', '', value));
        fact.append(make('dt', '', name), text);
        return fact;
      }));
    }
  }

  // wish is what somebody asks, or has asked.
  #wish(e) {
    const by = (who) => (who ? ` by ${printable(who)}` : '');
    const lines = [];
    if (e.pause) lines.push(`Paused${by(e.pause.by)}${e.pause.reason ? `: ${printable(e.pause.reason)}` : ''}`);
    if (e.request?.to) lines.push(`Asked to hand over to ${printable(e.request.to)}${by(e.request.by)}`);
    else if (e.request) lines.push(`Asked to resign${by(e.request.by)}`);
    if (e.reserved_for) lines.push(`The seat is kept for ${printable(e.reserved_for)}`);
    set(this.#$('.wish'), lines.join('. '));
    show(this.#$('.wish'), lines.length > 0);
  }

  #candidates(e) {
    show(this.#$('.company'), e.candidates.length > 0);
    const key = JSON.stringify([e.candidates.map((c) => ({ ...c, trust_ms: 0 })), e.own_ttl_ms]);
    if (key === this.#company) return;
    this.#company = key;
    this.#$('.candidates').replaceChildren(...e.candidates.map((c) => candidate(c, e)));
  }

  // tick shows what changes by itself. Nothing does unless it is known to be so.
  tick(fresh, now) {
    if (!this.#e) return;
    this.root.classList.toggle('stale', !fresh);
    for (const button of this.root.querySelectorAll('.buttons button')) {
      const useless = !this.#e.leader && (button.matches('.transfer') || button.matches('.resign'));
      if (button.disabled !== (!fresh || useless)) button.disabled = !fresh || useless;
    }
    this.#lease(fresh);
    this.#since(fresh, now);
    this.#past.draw(now, fresh);
  }

  #lease(fresh) {
    const e = this.#e, lease = this.#$('.lease'), bar = this.#$('.bar');
    show(lease, e.leader !== '');
    if (e.leader === '') return;
    const certain = fresh && !e.error;
    const left = certain ? Math.max(0, e.ttl_ms - (performance.now() - this.#heard)) : 0;
    const part = e.ttl_ms ? left / e.ttl_ms : 0;
    const free = left === 0 || e.state === 'silent' || e.state === 'abandoned';
    lease.classList.toggle('unknown', !certain);
    lease.classList.toggle('late', certain && part < 0.4);
    this.#$('.bar span').style.transform = `scaleX(${certain && !free ? part : 0})`;
    if (!certain) {
      set(this.#$('.lease-text'), fresh ? 'The lease cannot be seen while the store fails' : 'The lease cannot be seen from here now');
      set(this.#$('.left'), '');
    } else if (free) {
      set(this.#$('.lease-text'), 'Others can take the seat now');
      set(this.#$('.left'), '');
    } else {
      set(this.#$('.lease-text'), 'If it stays silent, others can take the seat in');
      set(this.#$('.left'), `${(left / 1000).toFixed(1)} s`);
    }
    const second = certain ? Math.ceil(left / 1000) : -1;
    if (second !== this.#told || !bar.hasAttribute('aria-label')) {
      this.#told = second;
      bar.setAttribute('aria-label', 'Until others can take the seat');
      bar.setAttribute('aria-valuemax', String(Math.round(e.ttl_ms / 1000)));
      bar.setAttribute('aria-valuenow', String(Math.max(0, second)));
      bar.setAttribute('aria-valuetext', certain ? `${second} seconds` : 'unknown');
    }
  }

  #since(fresh, now) {
    const since = this.#$('.since bdi');
    if (!since) return;
    const began = Date.parse(this.#e.elected_at);
    set(since, fresh ? `${clock(new Date(began))}, for ${rough(now - began)}` : clock(new Date(began)));
  }

  // say shows what came of what was asked here.
  say(text) {
    set(this.#$('.answer'), text);
    show(this.#$('.answer'), true);
  }

  focus(action) {
    const button = this.#$(`.buttons .${action}`);
    (button.hidden || button.disabled ? this.#$('.buttons button:not([hidden]):not(:disabled)') : button)?.focus();
  }
}

const standing = {
  leader: 'leads', candidate: 'stands by', draining: 'drains', releasing: 'gives the seat back',
  overrun: 'has work that does not return', stopped: 'does not stand',
};

// candidate tells how one of this sidecar's candidates does: how long its calls take, and what is left for them.
function candidate(c, e) {
  const item = make('li', c.state), head = make('p', 'head');
  const id = make('bdi', 'one', printable(c.id));
  id.style.setProperty('--hue', hue(c.id));
  head.append(id, make('span', 'standing', standing[c.state] ?? c.state));
  item.append(head);
  if (c.state === 'leader') {
    const whole = Math.max(1, e.own_ttl_ms * 0.98 - e.own_drain_ms);
    const bar = make('div', 'margin'), rest = make('span', 'rest'), taken = make('span', 'taken');
    rest.style.width = `${Math.min(1, c.safety_margin_ms / whole) * 100}%`;
    taken.style.width = `${Math.min(1, c.latency_ms / whole) * 100}%`;
    bar.append(taken, rest);
    bar.classList.toggle('thin', c.safety_margin_ms < whole / 5);
    item.append(bar);
  }
  const facts = make('p', 'detail');
  const calls = `The last call to the store took ${exact(c.latency_ms)}`;
  set(facts, c.state === 'leader' ? `Renewed with ${exact(c.safety_margin_ms)} to spare. ${calls}` : calls);
  item.append(facts);
  if (c.last_error) item.append(make('p', 'detail bad', `Last failure: ${printable(c.last_error)}`));
  return item;
}
