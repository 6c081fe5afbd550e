// The page: cards of elections, what was asked, and how the connection to the sidecar is.

import { set, show, make, printable, clock, when } from './text.js';
import { Stream, token } from './stream.js';
import { Card } from './card.js';
import { Question } from './dialog.js';

const $ = (id) => document.getElementById(id);
const mostActions = 100;

const cards = new Map();
let actions = [];
let skew = 0; // wall clock here, less that of the sidecar
let seen = null; // when something was last shown as true

const say = (text) => { $('said').textContent = text; };
const question = new Question(say);

const stream = new Stream({
  connected() {
    show($('login'), false);
    link('live', 'Live');
    show($('trouble'), false);
    seen = new Date();
  },
  lost(why, detail) {
    link('lost', 'Connection lost');
    trouble(why, detail);
    tick();
  },
  denied(wrong) {
    link('lost', 'Not let in');
    show($('trouble'), false);
    show($('overview'), false);
    show($('audit'), false);
    clear();
    show($('login'), true);
    set($('login-failure'), wrong ? 'The sidecar does not take this token.' : '');
    $('token').value = '';
    $('token').focus();
  },
  event(e, age) {
    skew = Date.now() - Date.parse(e.at) - age;
    seen = new Date();
    if (e.event === 'sidecar') begin(e);
    else take(e, age);
  },
});

function link(state, text) {
  if ($('link').dataset.link === state && $('link-text').textContent === text) return;
  const before = $('link').dataset.link;
  $('link').dataset.link = state;
  set($('link-text'), text);
  if (before === 'lost' && state === 'live') say('Connected to the sidecar again.');
}

const reasons = {
  silent: 'Nothing was heard from the sidecar for a while.',
  ended: 'The sidecar has ended the connection.',
  unreachable: 'The sidecar cannot be reached.',
  refused: 'The sidecar refuses:',
};

function trouble(why, detail) {
  set($('trouble-title'), why === 'refused' ? `${reasons[why]} ${printable(detail)}` : reasons[why]);
  set($('trouble-text'), seen ? `What is shown is how things stood at ${clock(seen)}. This page goes on trying.` : 'This page goes on trying.');
  show($('trouble'), true);
}

// begin takes away the elections that the sidecar does not serve any more, and puts the rest in its order.
function begin(e) {
  set($('sidecar'), `Sidecar ${printable(e.id)} at ${location.host}`);
  for (const name of cards.keys()) {
    if (!e.elections.includes(name)) cards.delete(name);
  }
  for (const name of e.elections) {
    if (!cards.has(name)) cards.set(name, new Card(name, (card, action) => question.open(card, action)));
  }
  const order = e.elections.map((name) => cards.get(name).root);
  if (order.some((root, i) => $('elections').children[i] !== root) || $('elections').children.length !== order.length) {
    $('elections').replaceChildren(...order);
  }
  actions = [];
  show($('overview'), true);
  show($('find').parentElement, order.length > 6);
  if (order.length <= 6) $('find').value = ''; // what cannot be seen must not hide anything
  sift();
}

function clear() {
  cards.clear();
  $('elections').replaceChildren();
}

function take(e, age) {
  const card = cards.get(e.election);
  if (!card) return;
  card.take(e, age);
  card.tick(true, Date.now() - skew);
  question.look(card);
  if (e.actions.length > 0 || e.event === 'first') audit(e);
  if (e.event === 'now' && e.changes.length > 0) announce(e);
  summary();
}

const news = {
  elected: (c) => `${printable(c.leader)} leads`, released: () => 'the leader gave the seat back',
  silent: (c) => `${printable(c.leader)} is silent`, abandoned: (c) => `${printable(c.leader)} is dead`,
  paused: () => 'paused', resumed: () => 'resumed', lost: () => 'the record was lost',
  'store-failed': () => 'the store fails', regained: () => 'the store is back',
};

// announce tells what has happened to who does not see it.
function announce(e) {
  const told = e.changes.map((c) => news[c.change]?.(c)).filter(Boolean);
  if (told.length > 0) say(`${printable(e.election)}: ${told.join(', ')}`);
}

function summary() {
  const all = [...cards.values()].filter((c) => c.election);
  const count = {};
  for (const c of all) {
    const state = c.election.error ? 'with a store that fails' : c.election.state === 'missing' ? 'not begun' : c.election.state;
    count[state] = (count[state] ?? 0) + 1;
  }
  const parts = Object.entries(count).map(([state, n]) => `${n} ${state}`);
  set($('summary'), `${all.length} ${all.length === 1 ? 'election' : 'elections'}: ${parts.join(', ')}`);
  const troubled = all.filter((c) => c.troubled).length;
  const title = troubled ? `(${troubled}) tenure` : 'tenure';
  if (document.title !== title) document.title = title;
}

// audit lists what was asked of all elections, the latest first.
function audit(e) {
  actions = actions.concat(e.actions.map((a) => ({ ...a, election: e.election })))
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at)).slice(0, mostActions);
  show($('audit'), actions.length > 0);
  $('actions').replaceChildren(...actions.map(entry));
}

const deeds = {
  resign: (a) => ['asked ', a.leader, ' to resign'], transfer: (a) => ['asked ', a.leader, ' to hand over to ', a.to],
  pause: () => ['paused it'], resume: () => ['resumed it'],
};

function entry(a) {
  const item = make('li', a.error ? 'refused' : ''), text = make('p');
  text.append(make('b', '', printable(a.election)), ' ', make('bdi', '', printable(a.by)), ' ');
  if (a.error) {
    text.append(make('span', '', `wanted to ${a.action}${a.to ? ` to ${printable(a.to)}` : ''}, which was refused: `),
      make('span', 'bad', printable(a.error)));
  } else {
    text.append(make('span', '', (deeds[a.action]?.(a) ?? [a.action]).map(printable).join('')),
      a.token && a.action !== 'resume' ? make('span', 'token', ` token ${a.token}`) : '',
      a.reason ? make('span', 'why', `: ${printable(a.reason)}`) : '');
  }
  item.append(when(new Date(a.at)), text);
  return item;
}

function sift() {
  const wanted = $('find').value.trim().toLowerCase();
  for (const card of cards.values()) show(card.root, card.name.toLowerCase().includes(wanted));
}

function tick() {
  const fresh = stream.fresh();
  document.body.classList.toggle('stale', !fresh);
  for (const card of cards.values()) card.tick(fresh, (fresh ? Date.now() : seen?.getTime() ?? Date.now()) - skew);
}

$('retry').addEventListener('click', () => stream.retry());
$('find').addEventListener('input', sift);
$('login').addEventListener('submit', (event) => {
  event.preventDefault();
  token.set($('token').value.trim());
  stream.connect();
});

setInterval(tick, matchMedia('(prefers-reduced-motion: reduce)').matches ? 1000 : 100);
stream.connect();
