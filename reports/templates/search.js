// One box over everything shown: every row, card and list entry of every view. All words must be in it.
const query = document.getElementById("query");
const results = document.getElementById("found");
const mostHitsPerView = 30;
let index = null;

// Words of different cells stay apart; those of a name that only may break between its parts do not.
const apart = /^(br|td|p|div|pre|h\d|dt|dd|span|summary|title|figcaption)$/i;
function words(part) {
  const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  let said = "";
  while (walker.nextNode()) {
    const node = walker.currentNode;
    said += node.nodeType === Node.TEXT_NODE ? node.data : apart.test(node.tagName) ? " " : "";
  }
  return said.replace(/\s+/g, " ").trim();
}

function indexed() {
  // Made when first asked for: most readers never search, and a large page has many rows.
  const parts = "tbody tr, .concern, .card, main li, .view > h1, .view > pre, dl";
  index ??= views
    .filter((view) => view !== results)
    .map((view) => ({
      view,
      title: view.getAttribute("aria-label"),
      parts: [...view.querySelectorAll(parts)].map((part) => {
        const said = words(part);
        return { part, said, low: said.toLowerCase() };
      }),
    }));
  return index;
}

function jump(view, part) {
  if (location.hash === `#${view.id}`) show(view, true);
  else {
    // The address changes first, so that going back comes here; its event would take the focus from the part.
    history.pushState(null, "", `#${view.id}`);
    show(view, true);
  }
  for (let folded = part.closest("details"); folded; folded = folded.parentElement.closest("details")) folded.open = true;
  part.scrollIntoView({ block: "center" });
  document.querySelector(".found")?.classList.remove("found");
  part.classList.add("found");
}

function hit({ view }, { part, said }, sought) {
  const entry = document.createElement("li");
  const link = document.createElement("a");
  const named = part.querySelector(".name a") ?? part.querySelector(".name, h3, figcaption b");
  link.href = `#${view.id}`;
  link.textContent = (named && words(named) || said).slice(0, 140);
  link.addEventListener("click", (event) => { event.preventDefault(); jump(view, part); });
  const at = Math.max(said.toLowerCase().indexOf(sought[0]) - 60, 0);
  const around = document.createElement("span");
  around.className = "soft small";
  around.textContent = ` ${at ? "…" : ""}${said.slice(at, at + 180)}`;
  entry.append(link, document.createElement("br"), around);
  return entry;
}

function search() {
  const sought = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (!sought.length) { route(false); return; }
  const title = document.createElement("h1");
  title.tabIndex = -1;
  results.replaceChildren(title);
  let all = 0;
  for (const place of indexed()) {
    const hits = place.parts.filter(({ low }) => sought.every((word) => low.includes(word)));
    if (!hits.length) continue;
    all += hits.length;
    const head = document.createElement("h2");
    head.textContent = `${place.title} (${hits.length})`;
    const list = document.createElement("ul");
    list.className = "hits";
    list.append(...hits.slice(0, mostHitsPerView).map((each) => hit(place, each, sought)));
    results.append(head, list);
  }
  title.textContent = `${all || "Nothing"} found for “${query.value.trim()}”`;
  show(results, false);
  window.scrollTo(0, 0);
}

let waiting = 0;
query.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(search, 120); });
document.getElementById("search").addEventListener("submit", (event) => { event.preventDefault(); search(); });
document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
  if (event.key === "/" && !typing) { event.preventDefault(); query.focus(); }
  if (event.key === "Escape" && document.activeElement === query) { query.value = ""; route(false); }
});
