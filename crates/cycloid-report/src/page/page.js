"use strict";
// Sorts tables by a click on a column head, expands clicked bars of flame graphs, and unfolds details
// for printing. Everything is readable without this script.
(() => {
  const words = new Intl.Collator("en", { numeric: true });

  // Sorts numbers by value, unknown ones last.
  const number = (text) => {
    const value = parseFloat(text.replace(/,/g, ""));
    return Number.isNaN(value) ? null : value;
  };

  const sort = (table, column, numeric, descending) => {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => {
      const text = row.cells[column].textContent.trim();
      return { row, key: numeric ? number(text) : text };
    });
    const sign = descending ? -1 : 1;
    rows.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
      return sign * (numeric ? a.key - b.key : words.compare(a.key, b.key));
    });
    body.append(...rows.map((entry) => entry.row));
  };

  for (const table of document.querySelectorAll("table")) {
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const descending = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        sort(table, column, !head.classList.contains("t"), descending);
      });
    });
  }

  // Expands the chosen bar and its ancestors to the full width and hides their siblings.
  const choose = (flame, bar) => {
    const item = bar.parentElement;
    const again = item.classList.contains("chosen");
    for (const other of flame.querySelectorAll("li")) other.classList.remove("all", "none", "chosen");
    if (again) return;
    item.classList.add("chosen");
    for (let at = item; at !== flame; at = at.parentElement.closest("li, .flame")) {
      for (const near of at.parentElement.children) near.classList.add(near === at ? "all" : "none");
    }
  };

  for (const flame of document.querySelectorAll(".flame")) {
    for (const bar of flame.querySelectorAll("span")) {
      bar.setAttribute("role", "button");
      bar.tabIndex = 0;
    }
    flame.addEventListener("click", (event) => {
      const bar = event.target.closest("span");
      if (bar) choose(flame, bar);
    });
    flame.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose(flame, event.target.closest("span"));
    });
  }

  addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("details")) fold.open = true;
  });
})();
