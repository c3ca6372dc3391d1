// Elements made without markup: what a model writes is text and stays text.

export const byId = (id) => document.getElementById(id);

/** An element. Properties the element knows are set as such, all else as attributes. */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined) continue;
    if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** An SVG element with attributes. */
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** Rows of cells as a table with a caption; the first cell of a row heads it. */
export function table(caption, heads, rows) {
  const head = el("tr", {}, ...heads.map((text) => el("th", { scope: "col" }, text)));
  const body = rows.map(({ cells: [first, ...rest], best }) =>
    el("tr", { className: best ? "best" : "" },
      el("th", { scope: "row" }, first), ...rest.map((cell) => el("td", {}, cell))));
  return el("table", {},
    el("caption", {}, caption), el("thead", {}, head), el("tbody", {}, ...body));
}

/** Call `act` when a form is sent, which the page does itself. */
export function onSubmit(id, act) {
  byId(id).addEventListener("submit", (event) => {
    event.preventDefault();
    act();
  });
}

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
