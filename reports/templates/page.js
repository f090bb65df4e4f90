// Shows the view that the address names; sorts tables; switches colours. Without this script all views are shown.
const views = [...document.querySelectorAll("main > .view")];

function show(view, focus) {
  for (const other of views) other.hidden = other !== view;
  const main = view.dataset.parent || view.id;
  for (const link of document.querySelectorAll(".bar nav a")) {
    if (link.getAttribute("href") === `#${main}`) {
      link.setAttribute("aria-current", "page");
      link.scrollIntoView({ block: "nearest", inline: "center" });
    } else link.removeAttribute("aria-current");
  }
  if (focus) {
    window.scrollTo(0, 0);
    view.querySelector("h1")?.focus({ preventScroll: true });
  }
}

function route(focus) {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  show(views.includes(named) ? named : document.getElementById("overview"), focus);
}

// What a screen reader should say next is the new view's title.
window.addEventListener("hashchange", () => route(true));
document.documentElement.classList.add("routed");
route(false);

// A click on a column's head sorts by it, a second one the other way round. Cells say by what in data-sort.
function sortBy(button) {
  const head = button.parentElement;
  const body = head.closest("table").tBodies[0];
  const column = [...head.parentElement.children].indexOf(head);
  const descending = head.getAttribute("aria-sort") === "ascending";
  const key = (row) => row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
  const order = (a, b) => {
    const [left, right] = [key(a), key(b)];
    // What is missing is neither the least nor the most: it comes last, whichever way round.
    if (!left || !right) return (left === "") - (right === "");
    const difference = left - right;
    const ascending = Number.isNaN(difference) ? left.localeCompare(right, undefined, { numeric: true }) : difference;
    return descending ? -ascending : ascending;
  };
  const rows = [...body.rows].sort(order);
  for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", descending ? "descending" : "ascending");
  body.append(...rows);
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("thead th button");
  if (button) sortBy(button);
});

// Colours: as the system has them, until somebody chooses. A page opened from a file may not be allowed to remember.
const themes = ["auto", "light", "dark"];
const themeButton = document.getElementById("theme");
let theme = "auto";
function setTheme(name) {
  theme = name;
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  themeButton.textContent = `colours: ${name}`;
}
function remembered() {
  try { return localStorage.getItem("kmigrate-theme"); } catch { return null; }
}
themeButton.hidden = false;
setTheme(themes.includes(remembered()) ? remembered() : "auto");
themeButton.addEventListener("click", () => {
  setTheme(themes[(themes.indexOf(theme) + 1) % themes.length]);
  try { localStorage.setItem("kmigrate-theme", theme); } catch { /* only this once, then */ }
});
