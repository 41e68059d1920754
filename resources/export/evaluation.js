// Sorts and filters the tables, and shows the runs of a figure. The page reads the same without this.
const value = (row, column) => {
  const cell = row.cells[column];
  return cell.dataset.value ?? cell.textContent.trim();
};
const compare = (one, other) => {
  const [left, right] = [parseFloat(one), parseFloat(other)];
  if (Number.isNaN(left) || Number.isNaN(right)) return one.localeCompare(other, undefined, { numeric: true });
  return left - right;
};
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const first = head.classList.contains("n") ? "descending" : "ascending";
      const now = head.getAttribute("aria-sort");
      const way = now === null ? first : now === "ascending" ? "descending" : "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", way);
      const sign = way === "ascending" ? 1 : -1;
      // What has no value stays at the end, whichever way the rest is sorted.
      const rows = [...table.tBodies[0].rows].map((row) => [value(row, column), row]);
      rows.sort(([one], [other]) => (one === "") - (other === "") || sign * compare(one, other));
      table.tBodies[0].append(...rows.map(([, row]) => row));
    });
  });
}
for (const filters of document.querySelectorAll(".filters")) {
  const table = document.getElementById(filters.dataset.table);
  const fields = [...filters.querySelectorAll("input, select")];
  const count = filters.querySelector(".count");
  const apply = () => {
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const fits = fields.every((field) => {
        if (field.value === "") return true;
        if (field.tagName === "SELECT") return row.dataset[field.name] === field.value;
        return field.value.toLowerCase().split(/\s+/).every((word) => row.textContent.toLowerCase().includes(word));
      });
      row.hidden = !fits;
      shown += fits;
    }
    count.textContent = `${shown} of ${table.tBodies[0].rows.length}`;
  };
  fields.forEach((field) => field.addEventListener("input", apply));
  filters.hidden = false;
  filters.apply = apply;
  apply();
}
document.addEventListener("click", (event) => {
  // A figure shows its runs; the number of a run shows all of them, with the run among them.
  const link = event.target.closest('a[data-runs], a[href^="#run-"]');
  if (!link) return;
  const filters = document.querySelector('.filters[data-table="run-table"]');
  for (const field of filters.querySelectorAll("input, select")) field.value = link.dataset[field.name] ?? "";
  filters.apply();
});
