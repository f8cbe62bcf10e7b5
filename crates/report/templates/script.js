"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, of = document) => Array.from(of.querySelectorAll(selector));
  const form = document.getElementById("filter");
  const store = (value) => {
    try {
      if (value === undefined) return localStorage.getItem("seatrial-theme") || "";
      if (value) localStorage.setItem("seatrial-theme", value);
      else localStorage.removeItem("seatrial-theme");
    } catch { /* A page that is opened from a file may have no store. */ }
    return value || "";
  };

  // Light, dark, or what the system says.
  const theme = form.elements.theme;
  const dress = (value) => value ? root.setAttribute("data-theme", value) : root.removeAttribute("data-theme");
  theme.value = store();
  dress(theme.value);
  theme.addEventListener("change", () => dress(store(theme.value)));

  // What came out well is folded; a link, a search or the printer opens it.
  const folds = all("details.case, details.cases, details.kind, details.evidence");
  const cases = all("details.case");
  for (const fold of folds) {
    const isBad = ["fail", "unknown"].includes(fold.dataset.v);
    const isFew = fold.matches(".case") && cases.length <= 2;
    fold.open = isFew || (isBad && cases.indexOf(fold) >= 0 && all("details.case[open]").indexOf(fold) < 3);
  }
  for (const many of all("details.cases")) {
    many.open = all("details.case", many).length <= 4 || all("details.case[open]", many).length > 0;
  }
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  addEventListener("beforeprint", () => folds.forEach((fold) => { fold.dataset.was = fold.open; fold.open = true; }));
  addEventListener("afterprint", () => folds.forEach((fold) => { fold.open = fold.dataset.was === "true"; }));
  reveal();

  // Only what has to be scrolled is a stop for the keyboard.
  const stops = new ResizeObserver((seen) => {
    for (const { target } of seen) target.tabIndex = target.scrollWidth > target.clientWidth + 1 ? 0 : -1;
  });
  all(".scroll").forEach((box) => stops.observe(box));

  // Filters. What says nothing of nodes is about all of them.
  const items = all("[data-v]");
  const boxes = all("input[name=verdict]", form);
  const filter = () => {
    const wanted = (form.elements.node ? form.elements.node.value : "").toLowerCase().split(/[\s,]+/).filter(Boolean);
    const role = form.elements.role ? form.elements.role.value : "";
    const off = new Set(boxes.filter((box) => !box.checked).map((box) => box.value));
    let shown = 0;
    for (const item of items) {
      const nodes = (item.dataset.n || "").toLowerCase().split("\n").filter(Boolean);
      const roles = (item.dataset.r || "").split("\n");
      const byNode = !wanted.length || !nodes.length || wanted.some((want) => nodes.some((node) => node === want || node.includes(want)));
      const byRole = !role || !nodes.length || roles.includes(role);
      // What was not judged goes with what is as it should be.
      const verdict = item.dataset.v || "pass";
      const isOn = byNode && byRole && (verdict === "any" || !off.has(verdict));
      item.toggleAttribute("data-off", !isOn);
      shown += isOn;
    }
    const isFiltered = wanted.length || role || off.size;
    form.querySelector("output").textContent = isFiltered ? `${shown} of ${items.length} rows and cases` : "";
  };
  form.addEventListener("input", filter);
  form.addEventListener("reset", () => setTimeout(() => { theme.value = store(); filter(); }));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;

  // What a mark of a plot stands for: titles tell it without a script, with a delay.
  const tip = document.getElementById("tip");
  const told = (target) => target.closest && target.closest("g.pt, [data-d]");
  const place = (event) => {
    tip.style.left = `${Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${event.clientY + 30 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : event.clientY + 16}px`;
  };
  document.addEventListener("pointerover", (event) => {
    const at = told(event.target);
    const title = at && at.querySelector("title");
    if (title) { at.dataset.d = title.textContent; title.remove(); }
    tip.hidden = !at;
    if (!at) return;
    tip.textContent = at.dataset.d;
    place(event);
  });
  document.addEventListener("pointermove", (event) => { if (!tip.hidden) place(event); });
  addEventListener("scroll", () => { tip.hidden = true; }, true);

  // Matrices: arrows walk over the cells, what a cell stands for is told below, Enter leads to its case.
  for (const table of all("table.heat")) {
    const rows = all("tbody tr", table).map((row) => Array.from(row.cells));
    const cells = all("td[data-d]", table);
    const detail = table.closest(".scroll").nextElementSibling;
    if (!cells.length || !detail) continue;
    cells.forEach((cell, at) => { cell.tabIndex = at ? -1 : 0; });
    const tell = (cell) => {
      detail.textContent = `${cell.dataset.d} `;
      if (!cell.dataset.to) return;
      const link = document.createElement("a");
      link.href = `#${cell.dataset.to}`;
      link.textContent = "see the case";
      detail.append(link);
    };
    table.addEventListener("focusin", (event) => { if (event.target.dataset.d) tell(event.target); });
    table.addEventListener("click", (event) => { const cell = event.target.closest("td[data-d]"); if (cell) cell.focus(); });
    table.addEventListener("keydown", (event) => {
      const cell = event.target.closest("td[data-d]");
      if (!cell) return;
      if (event.key === "Enter" && cell.dataset.to) { location.hash = cell.dataset.to; return; }
      const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
      if (!step) return;
      event.preventDefault();
      let row = rows.findIndex((cells) => cells.includes(cell));
      let column = rows[row].indexOf(cell);
      do { row += step[0]; column += step[1]; } while (rows[row] && rows[row][column] && !rows[row][column].dataset.d);
      const next = rows[row] && rows[row][column];
      if (!next || !next.dataset.d) return;
      cell.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  }
})();
