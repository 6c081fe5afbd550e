// The question that comes before anything is changed.

import { set, show, make, printable, hue } from './text.js';
import { ask } from './stream.js';

const $ = (id) => document.getElementById(id);
const nameKey = 'tenure-name';

const questions = {
  transfer: {
    title: (e) => `Transfer ${printable(e.election)}`, confirm: 'Transfer',
    text: (e) => `${printable(e.leader)} leads with token ${e.token}. It is asked to let its work finish and to give the seat back, which is then kept for the one that you name.`,
  },
  resign: {
    title: (e) => `Have the leader of ${printable(e.election)} resign`, confirm: 'Ask it to resign',
    text: (e) => `${printable(e.leader)} leads with token ${e.token}. It is asked to let its work finish and to give the seat back. Any other candidate takes over; without one, it leads again after a while.`,
  },
  pause: {
    title: (e) => `Pause ${printable(e.election)}`, confirm: 'Pause',
    text: (e) => (e.leader
      ? `${printable(e.leader)} is asked to let its work finish and to give the seat back. Then nobody leads until somebody resumes the election.`
      : 'Nobody will lead until somebody resumes the election.'),
  },
  resume: {
    title: (e) => `Resume ${printable(e.election)}`, confirm: 'Resume',
    text: () => 'Candidates may take the seat again at once.',
  },
};

export class Question {
  #card = null; #action = ''; #token = 0; #busy = false;
  #said;

  constructor(said) {
    this.#said = said;
    $('ask-by').value = localStorage.getItem(nameKey) ?? '';
    $('ask').addEventListener('close', () => this.#closed());
    $('ask').addEventListener('cancel', (event) => this.#busy && event.preventDefault());
    $('ask-cancel').addEventListener('click', () => $('ask').close());
    $('ask-name').addEventListener('focus', () => { $('ask-other').checked = true; });
    $('ask').querySelector('form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#send();
    });
  }

  open(card, action) {
    const q = questions[action], e = card.election;
    [this.#card, this.#action, this.#token] = [card, action, e.token];
    set($('ask-title'), q.title(e));
    set($('ask-text'), q.text(e));
    set($('ask-confirm'), q.confirm);
    set($('ask-failure'), '');
    show($('ask-heirs'), action === 'transfer');
    show($('ask-why'), action === 'pause');
    $('ask-reason').value = $('ask-name').value = '';
    if (action === 'transfer') this.#heirs(card.known);
    this.#wait(false);
    $('ask').showModal();
    (action === 'transfer' ? $('ask').querySelector('input[name=heir]:checked') : action === 'pause' ? $('ask-reason') : $('ask-cancel')).focus();
  }

  #heirs(known) {
    $('ask-known').replaceChildren(...known.map(([id, why], i) => {
      const label = make('label', 'choice'), input = make('input'), text = make('span');
      [input.type, input.name, input.value, input.checked] = ['radio', 'heir', id, i === 0];
      const who = make('bdi', 'one', printable(id));
      who.style.setProperty('--hue', hue(id));
      text.append(who, ' ', make('span', 'why', why));
      label.append(input, text);
      return label;
    }));
    $('ask-other').checked = known.length === 0;
  }

  // look closes the question if it is about a term that is over: what was meant for one leader must not hit the next.
  look(card) {
    if (card !== this.#card || this.#busy || !$('ask').open) return;
    const e = card.election;
    const over = e.token !== this.#token || (e.leader === '' && (this.#action === 'resign' || this.#action === 'transfer'));
    if (!over || this.#action === 'resume') return;
    $('ask').close();
    this.#tell(card, 'Nothing was asked: leadership has changed in the meantime. Look again.');
  }

  async #send() {
    const card = this.#card, action = this.#action, body = { by: $('ask-by').value.trim() };
    if (action === 'pause') body.reason = $('ask-reason').value.trim();
    if (action === 'transfer') {
      body.to = $('ask').querySelector('input[name=heir]:checked').value || $('ask-name').value.trim();
      if (body.to === '') {
        set($('ask-failure'), 'Say who shall lead.');
        $('ask-name').focus();
        return;
      }
    }
    localStorage.setItem(nameKey, body.by);
    this.#wait(true);
    try {
      const answer = await ask(card.name, action, body);
      this.#busy = false;
      $('ask').close();
      this.#tell(card, done(action, body, answer));
    } catch (e) {
      this.#wait(false);
      set($('ask-failure'), printable(e.message));
    }
  }

  #wait(busy) {
    this.#busy = busy;
    $('ask-confirm').disabled = $('ask-cancel').disabled = busy;
    $('ask').setAttribute('aria-busy', String(busy));
  }

  #tell(card, text) {
    card.say(text);
    this.#said(`${printable(card.name)}: ${text}`);
  }

  #closed() {
    if ($('ask').open) return; // again, before this was told
    this.#card?.focus(this.#action);
    this.#card = null;
  }
}

// done is the audit line, as the sidecar's log has it too.
function done(action, body, answer) {
  const who = `by ${printable(answer.by)}`, term = `token ${answer.token}`;
  switch (action) {
    case 'transfer': return `${printable(answer.leader)}, ${term}, was asked to hand over to ${printable(body.to)} ${who}.`;
    case 'resign': return `${printable(answer.leader)}, ${term}, was asked to resign ${who}.`;
    case 'pause': return `Paused ${who}${body.reason ? `: ${printable(body.reason)}` : ''}.`;
    default: return `Resumed ${who}.`;
  }
}
