// What happened in an election: its terms drawn along time, and every change with its reason.

import { set, show, make, printable, failure, clock, when, rough, hue } from './text.js';

const few = 5; // changes that are listed before somebody asks for all
const kept = 200; // changes that are kept, as many as the sidecar keeps
const least = 60e3, most = 60 * 60e3; // bounds of the time that is drawn

const words = {
  'first': 'Seen', 'elected': 'Elected', 'released': 'Released', 'silent': 'Silent', 'abandoned': 'Abandoned',
  'returned': 'Returned', 'asked': 'Asked', 'paused': 'Paused', 'resumed': 'Resumed', 'forgotten': 'Forgotten',
  'lost': 'Lost', 'store-failed': 'Store failed', 'regained': 'Store back',
};

const ends = new Set(['released', 'silent', 'abandoned', 'lost', 'forgotten']);
const leads = new Set(['held']);

// termsOf makes terms of changes: who led from when to when, and when the store could not be read.
function termsOf(changes) {
  const terms = [], outages = [];
  let term = null, outage = null;
  for (const c of changes) {
    const at = Date.parse(c.at);
    if (c.change === 'store-failed') {
      outage ??= { from: at, to: null };
      if (!outages.includes(outage)) outages.push(outage);
      continue;
    }
    if (outage) outage.to = at;
    outage = null;
    if (term && (ends.has(c.change) || c.token !== term.token)) {
      term.to = at;
      term = null;
    }
    if (!term && leads.has(c.state)) {
      const from = c.change === 'first' && c.elected_at ? Math.min(at, Date.parse(c.elected_at)) : at;
      term = { leader: c.leader, token: c.token, from, to: null };
      terms.push(term);
    }
  }
  return { terms, outages };
}

export class Past {
  #strip; #from; #to; #list; #more;
  #changes = [];
  #all = false;
  #drawn = '';

  constructor(root) {
    this.#strip = root.querySelector('.strip');
    this.#from = root.querySelector('.from');
    this.#to = root.querySelector('.to');
    this.#list = root.querySelector('.changes');
    this.#more = root.querySelector('.more');
    this.#more.addEventListener('click', () => {
      this.#all = !this.#all;
      this.#write();
    });
  }

  // leaders are all who have led, the latest first.
  get leaders() {
    return [...new Set(this.#changes.map((c) => c.leader).filter(Boolean).reverse())];
  }

  take(changes, anew) {
    if (anew) this.#changes = [];
    if (!anew && changes.length === 0) return;
    this.#changes = this.#changes.concat(changes).slice(-kept);
    this.#write();
  }

  #write() {
    const newest = this.#changes.slice().reverse();
    const seen = this.#all ? newest : newest.slice(0, few);
    this.#list.replaceChildren(...seen.map(line));
    show(this.#more, newest.length > few);
    set(this.#more, this.#all ? `Show the last ${few} alone` : `Show all ${newest.length} changes`);
    this.#more.setAttribute('aria-expanded', String(this.#all));
    this.#drawn = '';
  }

  // draw draws the terms up to now, by the clock of the sidecar.
  draw(now, fresh) {
    const { terms, outages } = termsOf(this.#changes);
    const first = this.#changes.length ? Date.parse(this.#changes[0].at) : now;
    const span = Math.min(most, Math.max(least, (now - first) * 1.04));
    const key = `${Math.round(now / span * 1500)} ${span} ${this.#changes.at(-1)?.number} ${fresh}`;
    if (key === this.#drawn) return;
    this.#drawn = key;
    const place = (element, from, to) => {
      const start = Math.max(0, (from - now + span) / span), end = Math.min(1, ((to ?? now) - now + span) / span);
      element.style.left = `${start * 100}%`;
      element.style.width = `${Math.max(0, end - start) * 100}%`;
      return element;
    };
    const inside = (part) => (part.to ?? now) > now - span;
    this.#strip.replaceChildren(
      ...terms.filter(inside).map((t) => {
        const bar = place(make('span', 'term'), t.from, t.to);
        bar.style.setProperty('--hue', hue(t.leader));
        bar.title = `${printable(t.leader)}, token ${t.token}, ${clock(new Date(t.from))} to ${t.to ? clock(new Date(t.to)) : 'now'}`;
        bar.append(make('bdi', '', printable(t.leader)));
        return bar;
      }),
      ...outages.filter(inside).map((o) => {
        const bar = place(make('span', 'outage'), o.from, o.to);
        bar.title = `the store could not be read, ${clock(new Date(o.from))} to ${o.to ? clock(new Date(o.to)) : 'now'}`;
        return bar;
      }),
    );
    set(this.#from, fresh ? `${rough(span)} ago` : clock(new Date(now - span)));
    set(this.#to, fresh ? 'now' : clock(new Date(now)));
    this.#strip.setAttribute('aria-label', told(terms, span));
  }
}

// told says what is drawn, for who does not see it.
function told(terms, span) {
  const last = terms.slice(-3).reverse().map((t) =>
    `${printable(t.leader)} with token ${t.token} ${t.to ? `until ${clock(new Date(t.to))}` : 'until now'}`);
  return `Terms of the last ${rough(span)}: ${last.join(', ') || 'none'}`;
}

const stateWord = (state) => ({ missing: 'not begun', unknown: '' }[state] ?? state);

function line(c) {
  const item = make('li', `change ${c.change}`);
  const text = make('p');
  text.append(make('b', '', words[c.change] ?? printable(c.change)));
  if (c.leader && c.change !== 'store-failed' && c.change !== 'regained') {
    const who = make('bdi', 'one', printable(c.leader));
    who.style.setProperty('--hue', hue(c.leader));
    text.append(' ', who, ' ', make('span', 'token', `token ${c.token}`));
  }
  const why = [c.change === 'first' && !c.leader ? stateWord(c.state) : '', c.reason].filter(Boolean).join(', ');
  if (why) text.append(' ', make('span', 'why', failure(why)));
  item.append(when(new Date(c.at)), text);
  return item;
}
