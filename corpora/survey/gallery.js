const filters = [...document.querySelectorAll('.survey-filters select')];
const search = document.querySelector('.survey-filters input');
function show() {
  let shown = 0;
  for (const row of document.querySelectorAll('.survey tbody tr')) {
    const fits = filters.every((f) => !f.value || row.dataset[f.name] === f.value)
      && row.textContent.toLowerCase().includes(search.value.toLowerCase());
    row.hidden = !fits;
    shown += fits;
  }
  document.querySelector('.survey-shown').textContent = shown + ' shown';
}
filters.forEach((f) => f.addEventListener('change', show));
search.addEventListener('input', show);
show();
