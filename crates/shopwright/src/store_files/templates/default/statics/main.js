// What the pages do more comfortably with a script. Without it everything works, too.

/** Suggestions below a search field. */
function suggest(input) {
  const box = document.createElement("div");
  box.className = "found-list";
  box.id = input.id + "-list";
  box.setAttribute("role", "listbox");
  box.setAttribute("aria-label", input.labels[0]?.textContent ?? "");
  box.hidden = true;
  input.form.append(box);
  for (const [name, value] of [["role", "combobox"], ["aria-expanded", "false"], ["aria-controls", box.id], ["aria-autocomplete", "list"]]) {
    input.setAttribute(name, value);
  }
  let chosen = -1;
  let timer = 0;
  let asked = "";
  const options = () => [...box.children];
  const show = (on) => {
    box.hidden = !on;
    input.setAttribute("aria-expanded", String(on));
    if (!on) {
      choose(-1);
    }
  };
  const choose = (at) => {
    chosen = at;
    options().forEach((option, index) => option.setAttribute("aria-selected", String(index === at)));
    const option = options()[at];
    if (option) {
      input.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    } else {
      input.removeAttribute("aria-activedescendant");
    }
  };
  const fill = ({ items }) => {
    box.replaceChildren(...items.map((item, index) => {
      const option = document.createElement("a");
      option.id = box.id + "-" + index;
      option.href = item.url;
      option.tabIndex = -1;
      option.setAttribute("role", "option");
      if (item.image) {
        const image = new Image(42, 42);
        image.src = item.image;
        image.alt = "";
        option.append(image);
      }
      const sum = document.createElement("span");
      sum.className = "sum";
      sum.textContent = item.price;
      option.append(item.name, sum);
      return option;
    }));
    show(items.length > 0);
  };
  const ask = async () => {
    const typed = input.value.trim();
    if (typed.length < 2) {
      show(false);
      return;
    }
    asked = typed;
    try {
      const answer = await fetch(input.dataset.suggest + "?q=" + encodeURIComponent(typed));
      if (answer.ok && asked === typed && document.activeElement === input) {
        fill(await answer.json());
      }
    } catch {
      show(false);
    }
  };
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, 150);
  });
  input.addEventListener("keydown", (event) => {
    const count = options().length;
    if (box.hidden || !count) {
      return;
    }
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      choose(chosen < 0 && step < 0 ? count - 1 : (chosen + step + count) % count);
    } else if (event.key === "Enter" && chosen >= 0) {
      event.preventDefault();
      options()[chosen].click();
    } else if (event.key === "Escape") {
      event.preventDefault();
      show(false);
    }
  });
  box.addEventListener("pointerdown", (event) => event.preventDefault());
  input.addEventListener("blur", () => show(false));
}

/** Menus close by Escape, by a click beside them, and when the focus leaves them. */
function menus(all) {
  const close = (menu, refocus) => {
    menu.open = false;
    if (refocus) {
      menu.querySelector("summary").focus();
    }
  };
  document.addEventListener("click", (event) => {
    all.filter((menu) => menu.open && !menu.contains(event.target)).forEach((menu) => close(menu, false));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      all.filter((menu) => menu.open).forEach((menu) => close(menu, menu.contains(document.activeElement)));
    }
  });
  for (const menu of all) {
    menu.addEventListener("focusout", (event) => {
      if (event.relatedTarget && !menu.contains(event.relatedTarget)) {
        close(menu, false);
      }
    });
  }
}

/** Buttons beside a number that make it less and more. */
function steps(box) {
  const input = box.querySelector("input");
  const [less, more] = box.dataset.steps.split("|").map((words, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = index ? "+" : "−";
    button.setAttribute("aria-label", words);
    button.addEventListener("click", () => {
      index ? input.stepUp() : input.stepDown();
      input.dispatchEvent(new Event("change", { bubbles: true }));
    });
    return button;
  });
  const limit = () => {
    less.disabled = input.valueAsNumber <= Number(input.min || -Infinity);
    more.disabled = input.valueAsNumber >= Number(input.max || Infinity);
  };
  input.addEventListener("input", limit);
  input.addEventListener("change", limit);
  input.before(less);
  input.after(more);
  box.classList.add("steps");
  limit();
}

/** A changed number is sent by itself once the visitor pauses. */
function submits(box) {
  let timer = 0;
  box.addEventListener("change", () => {
    clearTimeout(timer);
    timer = setTimeout(() => box.querySelector("input").form.requestSubmit(), 600);
  });
}

document.querySelectorAll("[data-suggest]").forEach(suggest);
document.querySelectorAll("[data-steps]").forEach(steps);
document.querySelectorAll("[data-submit]").forEach(submits);
menus([...document.querySelectorAll("[data-menu]")]);
// The sheet of filters on narrow screens closes by Escape.
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && location.hash === "#filters") {
    location.hash = "#found";
  }
});
