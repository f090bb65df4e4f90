// Looks at a page as a person would: what is to be seen, where it is, and whether it can be read. Changes nothing.
window.probes = (() => {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const blends = new Map();

  function isShown(element) {
    return element.checkVisibility({ visibilityProperty: true });
  }

  // The browser itself blends: colours may be written in any way, be half transparent, and lie upon each other.
  function painted(layers) {
    const key = JSON.stringify(layers);
    if (!blends.has(key)) {
      pen.clearRect(0, 0, 1, 1);
      for (const [colour, opacity] of layers) {
        pen.globalAlpha = opacity;
        pen.fillStyle = colour;
        pen.fillRect(0, 0, 1, 1);
      }
      blends.set(key, [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3));
    }
    return blends.get(key);
  }

  function luminance(rgb) {
    const [red, green, blue] = rgb.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }

  function contrast(one, other) {
    const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  }

  // What is said of an element holds for all texts in it: asked anew for every look, for a look may be in other colours.
  let ground = new Map();
  function groundOf(element) {
    if (!element) return { opacity: 1, layers: [["white", 1]] };
    if (!ground.has(element)) {
      const below = groundOf(element.parentElement), style = getComputedStyle(element);
      const opacity = below.opacity * Number(style.opacity);
      ground.set(element, { opacity, layers: [...below.layers, [style.backgroundColor, opacity]] });
    }
    return ground.get(element);
  }

  // Bars of a drawing are no ancestors of the words upon them: what was drawn before them, under their middle.
  function shapesUnder(element) {
    const drawing = element.closest("svg");
    if (!drawing) return [];
    const box = element.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    return [...drawing.querySelectorAll("rect")].filter((shape) => {
      const area = shape.getBoundingClientRect();
      const isBefore = shape.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING;
      return isBefore && area.left <= x && x <= area.right && area.top <= y && y <= area.bottom;
    });
  }

  function judged(element, style, said, ownOpacity) {
    const { opacity, layers } = groundOf(element);
    const shapes = shapesUnder(element).map((shape) => [getComputedStyle(shape).fill, groundOf(shape).opacity]);
    const halo = style.paintOrder.startsWith("stroke") && style.stroke !== "none" ? [[style.stroke, 1]] : [];
    const under = [...layers, ...shapes.filter(([fill]) => fill !== "none"), ...halo];
    const over = [...under, [element.closest("svg") ? style.fill : style.color, opacity * ownOpacity]];
    const isLarge = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    return { said, ratio: contrast(painted(over), painted(under)), least: isLarge ? 3 : 4.5 };
  }

  // Every text that is to be seen, with its contrast and what WCAG 2 (AA) asks of it.
  function texts() {
    ground = new Map();
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      const said = walker.currentNode.data.trim();
      const isText = said && !element.closest("script, style, title, noscript");
      if (isText && isShown(element)) found.push(judged(element, getComputedStyle(element), said.slice(0, 60), 1));
    }
    for (const element of document.querySelectorAll("[data-label]")) {
      const label = getComputedStyle(element, "::before");
      const said = label.content.startsWith('"') && label.content.slice(1, -1);
      if (said && isShown(element)) found.push(judged(element, label, said, Number(label.opacity)));
    }
    return found;
  }

  function isScrolled(element) {
    for (let up = element; up && up !== document.body; up = up.parentElement) {
      if (/auto|scroll|hidden|clip/.test(getComputedStyle(up).overflowX)) return true;
    }
    return false;
  }

  return {
    // What cannot be read well, worst first.
    pale() {
      return texts().filter(({ ratio, least }) => ratio < least).sort((a, b) => a.ratio - b.ratio)
        .map(({ said, ratio, least }) => `${said}: ${ratio.toFixed(2)}, at least ${least}`);
    },
    texts: () => texts().length,
    // What is wider than the window and makes the whole page move sideways.
    overflowing() {
      const width = document.documentElement.clientWidth;
      if (document.documentElement.scrollWidth <= width) return [];
      const wide = [...document.body.querySelectorAll("*")]
        .filter((element) => isShown(element) && element.getBoundingClientRect().right > width + 0.5 && !isScrolled(element))
        .map((element) => element.outerHTML.slice(0, 120));
      return [`${document.documentElement.scrollWidth} px of ${width}`, ...wide];
    },
    // Where to point at an element; that something else lies there would make a click of a person miss it.
    middle(element) {
      element.scrollIntoView({ block: "center", inline: "center" });
      const [box] = element.getClientRects();
      const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
      const hit = document.elementFromPoint(x, y);
      if (!element.contains(hit)) throw new Error(`${element.outerHTML.slice(0, 120)} is under ${hit?.outerHTML.slice(0, 120)}`);
      return [x, y];
    },
    isShown,
    shownViews: () => [...document.querySelectorAll("main > .view")].filter(isShown).map((view) => view.id),
  };
})();
