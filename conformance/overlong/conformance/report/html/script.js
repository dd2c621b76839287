"use strict";
// Filters and sorts what the page shows already; without this script nothing is missing but that.
(() => {
  const parameters = () => new URLSearchParams(location.search || location.hash.split("?")[1] || "");

  // The state is in the address, so that it can be shared: behind ?, or if a browser does not allow
  // that for a file, behind #?.
  const remember = (changes) => {
    const wanted = parameters();
    for (const [name, value] of Object.entries(changes)) {
      if (value) wanted.set(name, value); else wanted.delete(name);
    }
    const text = wanted.toString();
    const anchor = location.hash.split("?")[0];
    try {
      history.replaceState(null, "", location.pathname + (text ? "?" + text : "") + anchor);
    } catch {
      location.replace("#" + (text ? "?" + text : ""));
    }
  };

  const made = (kind, properties, ...children) => {
    const element = Object.assign(document.createElement(kind), properties);
    element.append(...children);
    return element;
  };

  // The name of a group is above its rows, if one of them is shown and they stand together.
  const regroup = (table) => {
    for (const group of table.querySelectorAll("[data-group]")) {
      const rows = [...table.tBodies[0].rows].filter((row) => row.dataset.language === group.dataset.group && !row.hidden);
      group.hidden = table.dataset.sorted === "otherwise" || !rows.length;
      if (!group.hidden) rows[0].before(group);
    }
  };

  const filter = (area) => {
    const tools = area.querySelector(".tools");
    const items = [...area.querySelectorAll("[data-item]")];
    const names = [...new Set(items.map((item) => item.dataset.item))];
    if (!tools || names.length < 2) return;
    const texts = new Map();
    for (const item of items) {
      texts.set(item.dataset.item, (texts.get(item.dataset.item) || "") + item.textContent.toLowerCase());
    }
    const start = parameters();
    const search = made("input", { type: "search", value: start.get("text") || "" });
    tools.append(made("label", {}, "text", search));
    const choices = [];
    for (const name of area.dataset.filters.split(" ")) {
      const values = new Set(items.flatMap((item) => (item.dataset[name] || "").split("|")));
      values.delete("");
      if (values.size < 2) continue;
      const select = made("select", {}, made("option", { value: "" }, "all"));
      for (const value of [...values].sort()) select.append(made("option", { value }, value));
      if (values.has(start.get(name))) select.value = start.get(name);
      tools.append(made("label", {}, name, select));
      choices.push([name, select]);
    }
    const clear = made("button", { type: "button" }, "show all");
    const count = made("output", {});
    count.setAttribute("role", "status");
    tools.append(clear, count);
    const details = area.querySelectorAll("details[data-item]");
    if (details.length) {
      const unfold = made("button", { type: "button" }, "open all below");
      unfold.addEventListener("click", () => {
        const open = ![...details].every((each) => each.open);
        for (const each of details) each.open = open;
        unfold.textContent = open ? "close all below" : "open all below";
      });
      count.before(unfold);
    }
    const apply = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const shown = new Set();
      for (const item of items) {
        const fits = words.every((word) => texts.get(item.dataset.item).includes(word)) && choices.every(([name, select]) =>
          !select.value || (item.dataset[name] || "").split("|").includes(select.value));
        item.hidden = !fits;
        if (fits) shown.add(item.dataset.item);
      }
      area.querySelectorAll("table").forEach(regroup);
      count.textContent = shown.size + " of " + names.length + " " + area.dataset.what + " shown";
    };
    const changed = () => {
      apply();
      remember(Object.fromEntries([["text", search.value], ...choices.map(([name, select]) => [name, select.value])]));
    };
    search.addEventListener("input", changed);
    for (const [, select] of choices) select.addEventListener("change", changed);
    clear.addEventListener("click", () => {
      search.value = "";
      for (const [, select] of choices) select.value = "";
      changed();
    });
    apply();
  };

  const sortable = (table, number) => {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const key = number ? "sort" + number : "sort";
    const value = (row, column) => {
      const cell = row.cells[column];
      return cell.dataset.sort === undefined ? cell.textContent.trim() : cell.dataset.sort;
    };
    const number_of = (text) => Number(text.replaceAll(/\s/g, ""));
    const sort = (column, descending) => {
      const rows = [...body.rows].filter((row) => row.dataset.group === undefined);
      const numeric = rows.every((row) => !Number.isNaN(number_of(value(row, column))));
      rows.sort((one, other) => {
        const left = value(one, column), right = value(other, column);
        const order = numeric ? number_of(left) - number_of(right) : left.localeCompare(right, "en", { numeric: true });
        return descending ? -order : order;
      });
      body.append(...rows);
      table.dataset.sorted = heads[column].classList.contains("language") ? "by group" : "otherwise";
      regroup(table);
      heads.forEach((head, place) => {
        if (place === column) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        else head.removeAttribute("aria-sort");
      });
    };
    heads.forEach((head, column) => {
      const button = made("button", { type: "button" }, ...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const descending = head.getAttribute("aria-sort") === "ascending";
        sort(column, descending);
        remember({ [key]: column + (descending ? "-" : "") });
      });
    });
    const [, column, descending] = /^(\d+)(-?)$/.exec(parameters().get(key) || "") || [];
    if (column !== undefined && Number(column) < heads.length) sort(Number(column), Boolean(descending));
  };

  const said = made("output", { className: "hidden" });  // read out where a changed button is not seen
  said.setAttribute("role", "status");

  const copyable = (command) => {
    const code = command.querySelector("code");
    const button = made("button", { type: "button" }, "copy");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "copied";
      } catch {  // not allowed, or no secure context: the text is selected at least
        getSelection().selectAllChildren(code);
        button.textContent = document.execCommand("copy") ? "copied" : "selected";
      }
      said.textContent = button.textContent;
      setTimeout(() => { button.textContent = "copy"; said.textContent = ""; }, 2000);
    });
    command.append(button);
  };

  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1).split("?")[0]);
    for (let at = target; at; at = at.parentElement) {
      at.hidden = false;
      if (at.tagName === "DETAILS") at.open = true;
    }
    if (target) target.scrollIntoView();
  };

  document.body.append(said);
  document.querySelectorAll("[data-filters]").forEach(filter);
  document.querySelectorAll("table[data-sortable]").forEach(sortable);
  document.querySelectorAll(".command").forEach(copyable);
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const each of closed) each.open = true;
  });
  addEventListener("afterprint", () => { for (const each of closed) each.open = false; });
})();
