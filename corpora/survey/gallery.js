const filters = [...document.querySelectorAll('.survey-filters [name]')];
const table = document.querySelector('.survey');
const heads = [...table.tHead.rows[0].cells];
const rows = [...table.tBodies[0].rows];
let sorted = 0, down = false;
function show() {
  let shown = 0;
  const value = Object.fromEntries(filters.map((f) => [f.name, f.value]));
  for (const row of rows) {
    const fits = filters.every((f) => f.name === 'search' || !f.value || row.dataset[f.name] === f.value)
      && row.textContent.toLowerCase().includes(value.search.toLowerCase());
    row.hidden = !fits;
    shown += fits;
  }
  document.querySelector('.survey-shown').textContent = shown + ' shown';
}
function sort() {
  const by = (a, b, at) => a.cells[at].textContent.localeCompare(b.cells[at].textContent, 'en', { numeric: true });
  const way = (a, b) => (down ? by(b, a, sorted) : by(a, b, sorted)) || by(a, b, 0);
  table.tBodies[0].append(...rows.sort(way));
  heads.forEach((h, at) => h.setAttribute('aria-sort', at !== sorted ? 'none' : down ? 'descending' : 'ascending'));
}
function keep() {
  const words = new URLSearchParams(filters.filter((f) => f.value).map((f) => [f.name, f.value]));
  if (sorted || down) words.set('sort', (down ? '-' : '') + heads[sorted].textContent);
  history.replaceState(null, '', words.size ? '?' + words : location.pathname);
}
function restore() {
  const words = new URLSearchParams(location.search);
  for (const f of filters) f.value = words.get(f.name) ?? '';
  for (const f of filters) if (f.selectedIndex === -1) f.selectedIndex = 0;
  const by = words.get('sort') ?? '';
  down = by.startsWith('-');
  sorted = Math.max(0, heads.findIndex((h) => h.textContent === by.replace('-', '')));
  sort();
  show();
}
filters.forEach((f) => f.addEventListener('input', () => { show(); keep(); }));
heads.forEach((h, at) => h.firstChild.addEventListener('click', () => {
  down = sorted === at && !down;
  sorted = at;
  sort();
  keep();
}));
window.addEventListener('pageshow', restore);
restore();
