// A click on a column's head sorts by it, a second one the other way round. Cells say by what in data-sort.
for (const button of document.querySelectorAll("thead th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement;
    const body = head.closest("table").tBodies[0];
    const column = [...head.parentElement.children].indexOf(head);
    const descending = head.getAttribute("aria-sort") === "ascending";
    const key = (row) => row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
    const order = (a, b) => {
      const [left, right] = [key(a), key(b)];
      const difference = left - right;
      return Number.isNaN(difference) ? left.localeCompare(right, undefined, { numeric: true }) : difference;
    };
    const rows = [...body.rows].sort((a, b) => (descending ? order(b, a) : order(a, b)));
    for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    body.append(...rows);
  });
}
