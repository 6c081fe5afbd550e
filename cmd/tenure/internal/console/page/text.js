// What is shown of times, durations and names.

// set changes the text of an element, and nothing if it is the same: screen readers read what changes.
export function set(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// show hides an element or lets it be seen.
export function show(element, seen) {
  if (element.hidden === seen) element.hidden = !seen;
}

// make returns a new element with a class and a text.
export function make(tag, style, text) {
  const element = document.createElement(tag);
  if (style) element.className = style;
  if (text !== undefined) element.textContent = text;
  return element;
}

// printable makes visible what would break a line, hide, or turn the direction of the text around it.
export function printable(text) {
  return String(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}

const two = (n) => String(n).padStart(2, '0');

// clock is a time of the day, with the date if that is another one.
export function clock(date) {
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  if (date.toDateString() === new Date().toDateString()) return time;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

// when is a time element.
export function when(date) {
  const element = make('time', '', clock(date));
  element.dateTime = date.toISOString();
  element.title = date.toISOString();
  return element;
}

// rough is a duration in its two largest units.
export function rough(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(s / 60), hours = Math.floor(minutes / 60), days = Math.floor(hours / 24);
  const units = [[days, 'd'], [hours % 24, 'h'], [minutes % 60, 'min'], [s % 60, 's']];
  const first = units.findIndex(([n]) => n > 0);
  if (first < 0) return '0 s';
  return units.slice(first, first + 2).filter(([n]) => n > 0).map(([n, unit]) => `${n} ${unit}`).join(' ');
}

// failure is what went wrong, without where in the sidecar that was noticed.
export function failure(text) {
  return printable(text.replace(/^tenure: observing "(?:[^"\\]|\\.)*": /, ''));
}

// exact is a duration as precise as it is short.
export function exact(ms) {
  if (ms < 1) return 'under 1 ms';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return `${(ms / 1000).toFixed(1)} s`;
}

// hue gives every name a color of its own, the same everywhere.
export function hue(name) {
  let h = 2166136261;
  for (const c of name) h = Math.imul(h ^ c.codePointAt(0), 16777619);
  h ^= h >>> 15;
  return ((h >>> 0) % 24) * 15;
}
