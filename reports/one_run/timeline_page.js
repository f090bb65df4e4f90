"use strict";
// Draws the lanes of one run as SVG. What they mean was decided where the page was made; an absent key is 0 or "".
(() => {
  const run = JSON.parse(document.getElementById("run").textContent);
  const chart = document.getElementById("chart"), tip = document.getElementById("tip");
  const ROW = 20, TALL = 58, GAP = 5, AXIS = 24, RIGHT = 10, NEAR = 7, CHARACTER = 6.3;
  let from = 0, to = run.end_ms, moment = null, placed = [], left = 0, width = 0, pressed = null;

  const escaped = text => String(text).replace(/[&<>"]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
  const x = at => left + (at - from) / (to - from) * (width - left - RIGHT);
  const timeAt = px => from + (px - left) / (width - left - RIGHT) * (to - from);
  const seconds = at => (at / 1000).toFixed(to - from < 2000 ? 3 : 2) + " s";
  const amount = v => v >= 100 ? Math.round(v).toLocaleString("en") : String(Math.round(v * 10) / 10);
  const rowOf = lane => lane.row_px || ROW;
  const fitting = (text, px) => px / CHARACTER >= text.length ? text : px / CHARACTER >= 4 ? text.slice(0, px / CHARACTER - 1) + "…" : "";

  function place(isNarrow) {
    let y = AXIS, group = "";
    placed = run.lanes.map(lane => {
      y += (lane.group || "") !== group ? 3 * GAP : GAP;
      group = lane.group || "";
      const head = isNarrow ? 15 : 0, body = lane.series ? TALL : (lane.rows || 1) * rowOf(lane);
      const spot = { lane, head: y, top: y + head, body };
      y += head + body;
      return spot;
    });
    return y + GAP;
  }

  function axis(bottom) {
    const wanted = (to - from) / Math.max(3, (width - left) / 90);
    const step = [1, 2, 5].flatMap(n => [0, 1, 2, 3, 4, 5].map(e => n * 10 ** e)).sort((a, b) => a - b).find(s => s >= wanted) || wanted;
    let out = "";
    for (let at = Math.ceil(from / step) * step; at <= to; at += step)
      out += `<line class="grid" x1="${x(at)}" x2="${x(at)}" y1="${AXIS}" y2="${bottom}"/>` +
        `<text class="tick${x(at) - left < 14 ? " start" : ""}" x="${x(at)}" y="${AXIS - 8}">${at / 1000} s</text>`;
    return out;
  }

  function band(b, spot) {
    const begin = Math.max(b.begin_ms || 0, from), end = Math.min(b.end_ms || 0, to);
    if (end < begin || (b.begin_ms || 0) > to || (b.end_ms || 0) < from) return "";
    const tall = rowOf(spot.lane), w = Math.max(1.5, x(end) - x(begin) - 1), y = spot.top + (b.row || 0) * tall;
    // A bar shorter than its name is named beside it, as far as the next bar of its row.
    const later = () => spot.lane.bands.filter(each => (each.row || 0) === (b.row || 0) && (each.begin_ms || 0) >= (b.end_ms || 0));
    const room = spot.lane.shades ? Math.min(x(to), ...later().map(each => x(each.begin_ms))) - x(end) : 0;
    const beside = w - 8 < (b.text || "").length * CHARACTER && room > w ? w : 0;
    const text = tall < ROW ? "" : fitting(b.text || "", beside ? room - 8 : w - 8);
    return `<rect class="${b.style}" x="${x(begin)}" y="${y + 1}" width="${w}" height="${tall - (tall < ROW ? 1 : 2)}" rx="${tall < ROW ? 0 : 2}"/>` +
      (text && `<text class="in ${b.style}" x="${x(begin) + beside + 4}" y="${y + 14}">${escaped(text)}</text>`);
  }

  function mark(m, spot, isDense) {
    const at = m.at_ms || 0;
    if (m.glyph === "|" || isDense) return `<line class="mark ${m.style}" x1="${x(at)}" x2="${x(at)}" y1="${spot.top + 4}" y2="${spot.top + 16}"/>`;
    const y = spot.top + (spot.lane.series ? 11 : 15);
    return `<text class="mark ${m.style}" x="${x(at)}" y="${y}">${m.glyph}</text>`;
  }

  function marks(spot) {
    const seen = (spot.lane.marks || []).filter(m => (m.at_ms || 0) >= from && (m.at_ms || 0) <= to);
    const isDense = seen.length * 12 > width - left;
    return seen.map(m => mark(m, spot, isDense)).join("");
  }

  function rowNumbers(spot) {
    const tall = rowOf(spot.lane), every = Math.ceil(14 / tall) === 1 ? 1 : 5;
    let out = "";
    for (let row = 0; left && spot.lane.row_px && row < spot.lane.rows; row += every)
      out += `<text class="tick end" x="${left - 5}" y="${spot.top + (row + 0.5) * tall + 4}">${row}</text>`;
    return out;
  }

  const valueAt = (points, at) => { let v = null; for (const p of points) { if (p[0] > at) break; v = p[1]; } return v; };
  const visible = s => s.points.filter((p, i) => p[0] <= to && (s.points[i + 1] ? s.points[i + 1][0] : to) >= from);

  function series(spot) {
    const scaled = v => spot.lane.is_logarithmic ? Math.log10(1 + v) : v;
    const all = spot.lane.series.flatMap(s => visible(s).map(p => p[1]).filter(v => v !== null));
    const most = Math.max(...all, 0), least = Math.min(...all, 0), base = spot.top + spot.body;
    const span = scaled(most) - scaled(Math.max(least, 0)) - Math.min(least, 0) || 1;
    const y = v => base - 1 - (v < 0 ? v - least : scaled(v) - Math.min(least, 0)) / span * (spot.body - 10);
    // The highest and the lowest value of what is seen, and between them half of it, on an axis of its own.
    const half = spot.lane.is_logarithmic ? 10 ** (Math.log10(1 + most) / 2) - 1 : (most + least) / 2;
    const scale = most > least ? [least, half, most] : [most];
    let out = `<line class="base" x1="${left}" x2="${width - RIGHT}" y1="${base}" y2="${base}"/>`, axis = "";
    for (const v of scale) {
      const at = y(v);
      out += `<line class="grid" x1="${left}" x2="${width - RIGHT}" y1="${at}" y2="${at}"/>`;
      axis += `<text class="scale" x="${left + 2}" y="${Math.min(base, at + 4)}">${amount(v)}</text>`;
    }
    for (const s of spot.lane.series) {
      if (s.shape === "bars") {
        const w = Math.max(1, x(run.bucket_ms) - x(0) - 0.5);
        out += visible(s).map(p => `<rect class="${s.style}" x="${x(p[0])}" y="${y(p[1])}" width="${w}" height="${Math.max(0, base - y(p[1]))}"/>`).join("");
      } else {
        let path = "", known = false;
        for (const [at, v] of s.points) {
          if (known) path += `H${x(at)}`;
          if (v !== null) path += known ? `V${y(v)}` : `M${x(at)} ${y(v)}`;
          known = v !== null;
        }
        out += `<path class="line ${s.style}" d="${path + (known ? `H${x(run.end_ms)}` : "")}"/>`;
      }
    }
    return [out, most, axis];
  }

  function draw() {
    width = chart.clientWidth;
    const isNarrow = width < 640;
    left = isNarrow ? 0 : 168;
    const bottom = place(isNarrow);
    let labels = "", body = "", shades = "", scales = "";
    for (const spot of placed) {
      const lane = spot.lane, y = isNarrow ? spot.head + 12 : spot.top + 14;
      let most = "";
      if (lane.series) { const [drawn, peak, axis] = series(spot); body += drawn; scales += axis; most = `peak ${amount(peak)}${lane.unit || ""}${lane.is_logarithmic ? ", log scale" : ""}`; }
      const lead = lane.swatch ? 14 : 0;
      if (lane.swatch) labels += `<circle class="${lane.swatch}" cx="5" cy="${y - 4}" r="4.5"/>`;
      labels += `<text class="label" x="${lead}" y="${y}">${escaped(lane.label)}</text>`;
      if (most) labels += isNarrow ? `<text class="tick end" x="${width - RIGHT}" y="${y}">${most}</text>` : `<text class="tick start" x="0" y="${y + 15}">${most}</text>`;
      labels += rowNumbers(spot);
      body += (lane.bands || []).map(b => band(b, spot)).join("") + marks(spot);
      if (lane.shades) for (const b of lane.bands || [])
        shades += `<rect class="shade" x="${x(b.begin_ms || 0)}" y="${AXIS}" width="${Math.max(1, x(b.end_ms) - x(b.begin_ms || 0))}" height="${bottom - AXIS}"/>`;
    }
    const at = moment === null ? "" : `<line class="moment" x1="${x(moment)}" x2="${x(moment)}" y1="${AXIS - 4}" y2="${bottom}"/>`;
    chart.innerHTML = `<svg width="${width}" height="${bottom}" role="img" aria-label="Timeline of the run">` +
      `<clipPath id="plot"><rect x="${left}" y="0" width="${width - left}" height="${bottom}"/></clipPath>${labels}` +
      `<g clip-path="url(#plot)">${shades}${axis(bottom)}${body}${at}` +
      `<rect id="selection" y="${AXIS}" height="${bottom - AXIS}" width="0"/><line id="cross" y1="${AXIS}" y2="${bottom}" x1="-9" x2="-9"/></g>${scales}</svg>`;
    document.getElementById("range").textContent = `${seconds(from)} – ${seconds(to)} of ${seconds(run.end_ms)}`;
  }

  function show(begin, end) {
    const length = Math.min(Math.max(end - begin, 50), run.end_ms);
    from = Math.max(0, Math.min(begin, run.end_ms - length));
    to = from + length;
    draw();
  }

  function under(px, py) {
    const at = timeAt(px), spot = placed.find(s => py >= s.head && py <= s.top + s.body);
    if (!spot || px < left) return { at, told: [], link: "" };
    const lane = spot.lane, row = lane.series ? 0 : Math.floor((py - spot.top) / rowOf(lane));
    const marks = (lane.marks || []).filter(m => Math.abs(x(m.at_ms || 0) - px) <= NEAR);
    const bands = (lane.bands || []).filter(b => (b.row || 0) === row && x(b.begin_ms || 0) - 2 <= px && px <= x(b.end_ms || 0) + 2);
    const numbers = (lane.series || []).map(s => {
      const inside = s.shape === "bars" ? s.points.find(p => p[0] <= at && at < p[0] + run.bucket_ms) : null;
      const v = s.shape === "bars" ? (inside ? inside[1] : 0) : valueAt(s.points, at);
      return v === null ? "" : `${s.name}: ${amount(v)}${lane.unit || ""}`;
    });
    const told = [...marks.slice(0, 3).map(m => `${seconds(m.at_ms || 0)}  ${m.tip}`), ...bands.map(b => b.tip), ...numbers].filter(Boolean);
    if (marks.length > 3) told.push(`and ${marks.length - 3} more here`);
    return { at, told, link: (marks.find(m => m.link) || { link: "" }).link };
  }

  function tell(event) {
    const box = chart.getBoundingClientRect(), px = event.clientX - box.left, found = under(px, event.clientY - box.top);
    const cross = document.getElementById("cross");
    cross.setAttribute("x1", px); cross.setAttribute("x2", px);
    tip.hidden = px < left;
    tip.textContent = [seconds(found.at), ...found.told].join("\n");
    const fits = event.clientX + tip.offsetWidth + 24 < innerWidth;
    tip.style.left = `${fits ? event.clientX + 14 : Math.max(4, event.clientX - tip.offsetWidth - 14)}px`;
    tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 6)}px`;
    return { px, found };
  }

  function reveal(id) {
    const element = document.getElementById(id);
    if (!element) return;
    for (let up = element; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
    document.querySelectorAll(".found").forEach(each => each.classList.remove("found"));
    element.classList.add("found");
    element.scrollIntoView({ block: "center" });
  }

  chart.addEventListener("pointerdown", event => { pressed = tell(event).px; });
  chart.addEventListener("pointermove", event => {
    const { px } = tell(event), selection = document.getElementById("selection");
    if (pressed === null) return;
    selection.setAttribute("x", Math.min(px, pressed));
    selection.setAttribute("width", Math.abs(px - pressed));
  });
  chart.addEventListener("pointerup", event => {
    const { px, found } = tell(event), began = pressed;
    pressed = null;
    if (began !== null && Math.abs(px - began) > NEAR) show(timeAt(Math.min(px, began)), timeAt(Math.max(px, began)));
    else if (found.link) reveal(found.link);
  });
  for (const name of ["pointerleave", "pointercancel"]) chart.addEventListener(name, () => {
    pressed = null; tip.hidden = true; document.getElementById("selection").setAttribute("width", 0);
  });
  const buttons = {
    closer: () => { const c = moment !== null && moment > from && moment < to ? moment : (from + to) / 2, l = (to - from) / 4; show(c - l, c + l); },
    wider: () => { const c = (from + to) / 2, l = to - from; show(c - l, c + l); },
    earlier: () => { const l = (to - from) / 2; show(from - l, to - l); },
    later: () => { const l = (to - from) / 2; show(from + l, to + l); },
    whole: () => { moment = null; show(0, run.end_ms); },
  };
  for (const [id, act] of Object.entries(buttons)) document.getElementById(id).addEventListener("click", act);
  document.addEventListener("click", event => {
    const jump = event.target.closest("[data-jump]"), link = event.target.closest('a[href^="#event-"], a[href^="#verdict-"]');
    if (link) { event.preventDefault(); reveal(link.hash.slice(1)); }
    if (!jump) return;
    moment = Number(jump.dataset.jump);
    show(moment - 10000, moment + 10000);
    document.getElementById("picture").scrollIntoView({ block: "start" });
  });
  document.addEventListener("toggle", event => {
    // What matters in a log is next to the moment, at its end.
    const log = event.target.querySelector(":scope > pre");
    if (log) log.scrollTop = log.scrollHeight;
  }, true);
  addEventListener("resize", draw);
  draw();
})();
