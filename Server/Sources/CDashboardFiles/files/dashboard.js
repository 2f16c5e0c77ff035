"use strict";
// Enhancements of pages that work without scripts: copying, commands that follow a form, uploads with progress, the rule
// editor, the preview, and live counters.
(() => {
  const csrf = document.querySelector("meta[name=csrf]")?.content;
  const $ = (selector, root = document) => root.querySelector(selector);
  const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

  /** An element with properties and children; texts become text, never HTML. */
  const make = (tag, properties = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (name.includes("-") || name === "list") element.setAttribute(name, value);
      else element[name] = value;
    }
    element.append(...children.filter(child => child != null));
    return element;
  };

  const send = (address, body) => fetch(address, {
    method: "POST", body, credentials: "same-origin", headers: {"X-CSRF-Token": csrf, "Content-Type": "application/json"},
  });

  // MARK: Toasts, copying

  let toastTimer;
  const toast = (...content) => {
    const place = $("#toast");
    place.replaceChildren(...content);
    place.hidden = false;
    clearTimeout(toastTimer);
    return ms => { toastTimer = setTimeout(() => { place.hidden = true; }, ms); };
  };

  document.addEventListener("click", async event => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const code = $("code", button.closest(".command"));
    try {
      await navigator.clipboard.writeText(code.textContent);
      toast("Copied")(1600);
    } catch {
      getSelection().selectAllChildren(code);
      toast("Selected: copy it with Ctrl C")(2600);
    }
  });

  // Menus close when something else is meant.
  const closeMenus = except => $$("details.menu[open]").forEach(menu => { if (menu !== except) menu.open = false; });
  document.addEventListener("click", event => closeMenus(event.target.closest("details.menu")));
  document.addEventListener("keydown", event => {
    if (event.key !== "Escape") return;
    const menu = $("details.menu[open]");
    if (menu) { menu.open = false; $("summary", menu).focus(); }
  });

  // On phones the sections are a strip: the current one is in it.
  const current = $(".side [aria-current]");
  if (current) $(".side").scrollLeft = Math.max(0, current.offsetLeft - 60);

  // A form is sent once.
  document.addEventListener("submit", event => {
    const form = event.target;
    if (form.method !== "post") return;
    if (form.dataset.sent) { event.preventDefault(); return; }
    form.dataset.sent = "yes";
    addEventListener("pageshow", () => { delete form.dataset.sent; }, {once: true});
  });

  // MARK: Commands that follow a form

  const shellQuoted = text => /^[A-Za-z0-9_.\/:=@%+,-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
  const words = text => text.split(/[\n,]/).map(word => word.trim()).filter(Boolean);

  for (const form of $$("form[data-commands]")) {
    const codes = $$("[data-command]", form.parentElement.closest(".narrow, .duo, main") ?? document).concat($$("main > .commands [data-command]"));
    const fill = () => {
      const fields = new FormData(form);
      const list = name => fields.getAll(name).flatMap(words);
      for (const code of new Set(codes)) {
        code.textContent = code.dataset.command
          .replace(/ --name ‹name›/, fields.get("name") ? " --name " + shellQuoted(fields.get("name")) : "")
          .replace(/ --note ‹note›/, fields.get("note") ? " --note " + shellQuoted(fields.get("note")) : "")
          .replace(/‹(--[\w-]+):([\w.]+)›/g, (_, option, name) => list(name).map(word => `${option} ${shellQuoted(word)}`).join(" ") || `${option} …`)
          .replace(/‹([\w.-]+)›/g, (_, name) => fields.get(name) ? shellQuoted(fields.get(name)) : name.replace(/^.*\./, "").toUpperCase())
          .replace(/«([\w.-]+)»/g, (_, name) => JSON.stringify(fields.get(name) ?? "").replaceAll("'", "'\\''"))
          .replace(/¦([\w.-]+)¦/g, (_, name) => JSON.stringify(list(name)).replaceAll("'", "'\\''"));
      }
    };
    form.addEventListener("input", fill);
    form.addEventListener("change", fill);
    fill();
  }

  // MARK: Uploads

  const bytes = count => count < 1e3 ? `${count} B` : count < 1e6 ? `${(count / 1e3).toFixed(0)} kB` : count < 1e9 ? `${(count / 1e6).toFixed(1)} MB` : `${(count / 1e9).toFixed(2)} GB`;

  /** Takes an archive's card into the page, and into the choices of a release. */
  const uploaded = html => {
    const card = new DOMParser().parseFromString(html, "text/html").body.firstElementChild;
    const {model, file, sha256, label} = card.dataset;
    const list = $("[data-uploaded]");
    $$(".archive", list).find(other => other.dataset.sha256 === sha256)?.remove();
    card.classList.add("fresh");
    list.prepend(card);
    $("[data-none]")?.remove();
    for (const select of $$("select[data-archives]")) {
      const known = [...select.options].find(option => option.value === sha256) ?? select.appendChild(make("option", {value: sha256, textContent: label}));
      if (select.dataset.archives === model || file.startsWith(select.dataset.archives)) { known.selected = true; select.dispatchEvent(new Event("change", {bubbles: true})); }
    }
  };

  const upload = (place, file) => new Promise(resolve => {
    const state = make("span", {className: "soft small", textContent: "0 %"});
    const bar = make("progress", {max: 1, value: 0, ariaLabel: `Upload of ${file.name}`});
    const row = make("li", {}, make("span", {textContent: file.name}), state, bar);
    $(".uploads", place).append(row);
    const failed = text => { bar.remove(); state.textContent = "not taken"; row.append(make("p", {className: "alert", textContent: text})); resolve(); };
    const request = new XMLHttpRequest();
    request.open("POST", `${place.dataset.upload}?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader("X-CSRF-Token", csrf);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.onprogress = event => {
      bar.value = event.total ? event.loaded / event.total : 0;
      state.textContent = event.loaded < event.total ? `${Math.floor(100 * bar.value)} % of ${bytes(event.total)}` : "being checked …";
    };
    request.onload = () => {
      if (request.status !== 200) { failed(request.responseText || `The server answered with the status ${request.status}.`); return; }
      uploaded(request.responseText);
      row.remove();
      toast(`${file.name} is here`)(2200);
      resolve();
    };
    request.onerror = () => failed("The connection was lost: is the server running?");
    request.send(file);
  });

  for (const place of $$("[data-upload]")) {
    const drop = $(".drop", place), input = $("input[type=file]", place);
    const take = async files => { for (const file of files) await upload(place, file); };
    input.addEventListener("change", async () => { const files = [...input.files]; await take(files); input.value = ""; });
    for (const name of ["dragenter", "dragover"]) drop.addEventListener(name, event => { event.preventDefault(); drop.classList.add("over"); });
    for (const name of ["dragleave", "drop"]) drop.addEventListener(name, event => { event.preventDefault(); drop.classList.remove("over"); });
    drop.addEventListener("drop", event => take([...event.dataTransfer.files]));
  }

  // MARK: A device, described by hand

  const sizes = {kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40};
  /** A number, also with a unit: 6 GB. */
  const number = text => {
    const match = /^\s*(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([kKMGT]i?B)?\s*$/.exec(text);
    if (!match || (match[2] && !sizes[match[2]])) return null;
    return Number(match[1]) * (sizes[match[2]] ?? 1);
  };

  const described = root => {
    const json = $("[data-device-json]", root)?.value.trim();
    let device = {};
    if (json) { try { device = JSON.parse(json); } catch { throw new Error("The device's JSON cannot be read."); } }
    for (const input of $$("[data-attribute]", root)) {
      const text = input.value.trim();
      if (text) device[input.dataset.attribute] = "number" in input.dataset ? number(text) ?? text : text;
    }
    return device;
  };

  document.addEventListener("click", event => {
    if (!event.target.closest("[data-random]")) return;
    const input = $("[data-attribute=installID]");
    input.value = crypto.randomUUID ? crypto.randomUUID() : [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, "0")).join("");
    input.dispatchEvent(new Event("input", {bubbles: true}));
  });

  /** Shows what the server says of a question, the latest only. */
  const previewer = (address, question) => {
    let timer, turn = 0;
    const place = $("#preview"), more = $("#preview-more");
    const ask = async () => {
      const mine = ++turn;
      let body;
      try { body = JSON.stringify(question()); } catch (error) { place.replaceChildren(make("p", {className: "alert", textContent: error.message})); return; }
      try {
        const response = await send(address, body);
        const text = await response.text();
        if (mine !== turn) return;
        if (!response.ok) { place.replaceChildren(make("p", {className: "alert", textContent: text})); return; }
        const page = new DOMParser().parseFromString(text, "text/html");
        const extra = $("[data-more]", page);
        extra?.remove();
        place.replaceChildren(...page.body.childNodes);
        if (more && extra) {
          const open = $("details", more)?.open;
          more.replaceChildren(...extra.childNodes);
          if (open) $("details", more).open = true;
        }
      } catch { place.replaceChildren(make("p", {className: "alert", textContent: "The server cannot be reached."})); }
    };
    return () => { clearTimeout(timer); timer = setTimeout(ask, 180); };
  };

  const explain = $("[data-explain]");
  if (explain) {
    const {deployment, environment} = explain.dataset;
    const ask = previewer(explain.dataset.explain, () => ({definition: null, deployment, environment, device: described(explain)}));
    explain.addEventListener("input", ask);
    ask();
  }

  // MARK: The rule editor

  const form = $("form[data-editor]");
  if (form) {
    const data = JSON.parse(form.dataset.editor);
    const area = $("[name=definition]", form), place = $("#editor");
    const attributes = new Map(data.attributes.map(each => [each.name, each]));
    const operators = new Map(data.operators.map(each => [each.name, each]));
    let definition;

    const choices = (value, extra = []) => {
      const select = make("select");
      const entries = [...extra, ...data.releases.map(each => [each.number, each.label]), ["bundled", "Models of the app"], ["keep", "Current models of the device"]];
      for (const [key, label] of entries) select.append(make("option", {value: key, textContent: label, selected: String(key) === String(value ?? "")}));
      return select;
    };
    const chosen = select => /^\d+$/.test(select.value) ? Number(select.value) : select.value;

    /** A field for a percentage; empty for all. */
    const percentage = (label, value, change) => make("input", {
      type: "text", inputMode: "decimal", ariaLabel: label, value: value ?? "", placeholder: "100",
      oninput: event => { const text = event.target.value.trim().replace(",", "."); change(text === "" ? undefined : Number(text)); update(); },
    });

    /** The conditions that the editor shows; others are JSON. */
    const simple = when => {
      if (when?.attribute || when?.segment) return {join: "all", parts: [when]};
      for (const join of ["all", "any"]) if (Array.isArray(when?.[join]) && when[join].every(part => part.attribute || part.segment)) return {join, parts: when[join]};
      return null;
    };
    const joined = (join, parts) => parts.length === 1 ? parts[0] : {[join]: parts};

    const typed = (kind, operator, text) => {
      if (operator === "isPresent") return text !== "false";
      if (kind === "number") { const value = number(text); return value == null ? text : Number.isInteger(value) ? value : {decimal: String(value)}; }
      if (kind === "signal") {
        if (text === "true" || text === "false") return text === "true";
        const value = number(text);
        return text !== "" && value != null ? (Number.isInteger(value) ? value : {decimal: String(value)}) : text;
      }
      return text;
    };
    const shown = value => typeof value === "object" && value ? value.decimal : String(value);

    const valueFields = (part, attribute) => {
      const operator = operators.get(part.operator), kind = attribute.kind;
      const set = texts => { part.values = texts.map(text => typed(kind, part.operator, text.trim())); update(); };
      const values = (part.values ?? []).map(shown);
      const label = "Value";
      if (part.operator === "isPresent" || (part.attribute === "deviceClass" && operator.count === 1)) {
        const options = part.operator === "isPresent" ? ["true", "false"] : attribute.values;
        const select = make("select", {ariaLabel: label, onchange: event => set([event.target.value])});
        for (const option of options) select.append(make("option", {value: option, textContent: part.operator === "isPresent" ? (option === "true" ? "yes" : "no") : option, selected: option === values[0]}));
        if (!options.includes(values[0])) queueMicrotask(() => set([select.value]));
        return [select];
      }
      const list = attribute.values.length ? {list: `values-${attribute.name}`} : {};
      if (operator.count === 2) return [0, 1].map(index => make("input", {
        value: values[index] ?? "", ariaLabel: index ? "To" : "From", placeholder: index ? "to" : "from", autocomplete: "off",
        oninput: event => { values[index] = event.target.value; set([values[0] ?? "", values[1] ?? ""]); },
      }));
      return [make("input", {
        value: values.join(", "), ariaLabel: operator.count ? label : "Values, separated by commas", placeholder: operator.count ? "value" : "one, another", autocomplete: "off", spellcheck: false, ...list,
        oninput: event => set(operator.count ? [event.target.value] : event.target.value.split(",").map(text => text.trim()).filter(Boolean)),
      })];
    };

    const conditionRow = (parts, index) => {
      const part = parts[index];
      const isSignal = part.attribute?.startsWith("custom.");
      const key = part.segment !== undefined ? "segment" : isSignal ? "custom" : part.attribute;
      const attribute = attributes.get(part.attribute) ?? {name: part.attribute, kind: "signal", operators: data.signalOperators, values: []};
      const what = make("select", {ariaLabel: "Attribute", onchange: event => {
        const name = event.target.value;
        if (name === "segment") parts[index] = {segment: Object.keys(definition.segments ?? {})[0] ?? ""};
        else {
          const next = attributes.get(name);
          parts[index] = {attribute: name === "custom" ? "custom.name" : name, operator: "is", values: next?.kind === "number" ? [0] : [""]};
        }
        draw(); update();
      }});
      for (const each of data.attributes) what.append(make("option", {value: each.name, textContent: each.label, selected: each.name === key}));
      what.append(make("option", {value: "custom", textContent: "signal of the app …", selected: key === "custom"}), make("option", {value: "segment", textContent: "segment", selected: key === "segment"}));
      const remove = make("button", {type: "button", className: "button small quiet icon-only", ariaLabel: "Remove this condition", textContent: "×", disabled: parts.length === 1, onclick: () => { parts.splice(index, 1); draw(); update(); }});
      if (key === "segment") {
        const select = make("select", {ariaLabel: "Segment", onchange: event => { part.segment = event.target.value; update(); }});
        for (const name of Object.keys(definition.segments ?? {})) select.append(make("option", {textContent: name, selected: name === part.segment}));
        if (!select.options.length) select.append(make("option", {value: "", textContent: "create one below"}));
        return make("div", {className: "condition"}, what, make("span", {className: "word", textContent: "contains the device:"}), select, remove);
      }
      const how = make("select", {ariaLabel: "Comparison", onchange: event => {
        const before = operators.get(part.operator).count, isFlag = part.operator === "isPresent" || event.target.value === "isPresent";
        part.operator = event.target.value;
        if (isFlag) part.values = [part.operator === "isPresent" ? true : ""];
        else if (before !== operators.get(part.operator).count) part.values = operators.get(part.operator).count === 2 ? [part.values[0], part.values[0]] : part.values.slice(0, operators.get(part.operator).count || undefined);
        draw(); update();
      }});
      for (const name of attribute.operators) how.append(make("option", {value: name, textContent: operators.get(name).label, selected: name === part.operator}));
      const signal = isSignal ? make("input", {className: "mono signal", ariaLabel: "Name of the signal", value: part.attribute.slice(7), autocomplete: "off", oninput: event => { part.attribute = "custom." + event.target.value.trim(); update(); }}) : null;
      return make("div", {className: "condition"}, what, signal, how, make("div", {className: "values"}, ...valueFields(part, attribute)), remove);
    };

    const serveRow = (holder, key, extras) => {
      const serve = choices(holder[key]);
      serve.setAttribute("aria-label", "The release they get");
      serve.addEventListener("change", () => { holder[key] = chosen(serve); update(); });
      const rest = choices(holder.rest, [["", extras.rest]]);
      rest.setAttribute("aria-label", "The release the others get");
      rest.addEventListener("change", () => { if (rest.value === "") delete holder.rest; else holder.rest = chosen(rest); update(); });
      const others = make("div", {className: "serve", "data-others": key, hidden: holder.percentage === undefined && holder.rest === undefined && !holder.rollout}, make("span", {className: "word", textContent: "the others get"}), rest);
      return make("div", {className: "serves"}, make("div", {className: "serve"}, make("span", {className: "word", textContent: extras.word}), serve),
        make("div", {className: "serve"}, make("span", {className: "word", textContent: "on"}), percentage("Percentage of them", holder.percentage, value => {
          if (value === undefined) delete holder.percentage; else holder.percentage = value;
          others.hidden = value === undefined && holder.rest === undefined;
        }), make("span", {className: "word", textContent: "% of these devices"})), others);
    };

    const move = (index, by) => {
      const [rule] = definition.rules.splice(index, 1);
      definition.rules.splice(index + by, 0, rule);
      draw(); update();
      $$(".rule-card", place)[index + by].querySelector(by < 0 ? "[data-up]" : "[data-down]").focus();
    };

    const ruleCard = (rule, index) => {
      const known = simple(rule.when);
      const title = make("input", {value: rule.id, ariaLabel: `Name of rule ${index + 1}`, autocomplete: "off", spellcheck: false, oninput: event => { rule.id = event.target.value.trim(); update(); }});
      const button = (text, label, properties) => make("button", {type: "button", className: "button small quiet icon-only", ariaLabel: label, title: label, textContent: text, ...properties});
      const body = [];
      if (known) {
        const parts = known.parts;
        rule.when = joined(known.join, parts);
        const rewrite = () => { rule.when = joined(join.value, parts); };
        const join = make("select", {ariaLabel: "All or one of the conditions", onchange: () => { rewrite(); update(); }},
          make("option", {value: "all", textContent: "all of these", selected: known.join === "all"}), make("option", {value: "any", textContent: "one of these", selected: known.join === "any"}));
        const rows = make("div", {className: "conditions"}, ...parts.map((_, row) => conditionRow(parts, row)));
        // Rows change parts in place; the rule takes them over whenever it is read.
        rule.parts = () => joined(join.value, parts);
        body.push(make("div", {className: "serve"}, make("span", {className: "word", textContent: parts.length > 1 ? "Devices for which" : "Devices whose"}), parts.length > 1 ? join : null, parts.length > 1 ? make("span", {className: "word", textContent: "hold"}) : null), rows,
          make("div", {}, make("button", {type: "button", className: "button small", textContent: "and another condition", onclick: () => {
            parts.push({attribute: "osVersion", operator: "atLeast", values: [""]});
            rule.when = joined(known.join, parts); draw(); update();
            const all = $$(".condition", $$(".rule-card", place)[index]);
            $("select", all.at(-1)).focus();
          }})));
      } else {
        delete rule.parts;
        body.push(make("textarea", {className: "mono", rows: 5, ariaLabel: "The condition as JSON", spellcheck: false, value: JSON.stringify(rule.when, null, 1), onchange: event => {
          try { rule.when = JSON.parse(event.target.value); draw(); } catch { toast("The condition's JSON cannot be read")(3000); }
          update();
        }}));
      }
      return make("div", {className: "rule-card", role: "group", ariaLabel: `Rule ${index + 1}`},
        make("div", {className: "rule-head"}, make("span", {className: "rule-number", textContent: index + 1}), title,
          button("↑", "Move this rule up", {disabled: index === 0, "data-up": "", onclick: () => move(index, -1)}),
          button("↓", "Move this rule down", {disabled: index === definition.rules.length - 1, "data-down": "", onclick: () => move(index, 1)}),
          button("×", "Remove this rule", {onclick: () => { definition.rules.splice(index, 1); draw(); update(); $("[data-add]", place).focus(); }})),
        ...body, serveRow(rule, "serve", {word: "get", rest: "the default"}));
    };

    const segmentsPart = () => {
      const rows = Object.entries(definition.segments ?? {}).map(([name, members]) => make("div", {className: "rule-card"},
        make("div", {className: "rule-head"}, make("input", {value: name, ariaLabel: "Name of the segment", onchange: event => {
          const next = event.target.value.trim();
          if (!next || next === name || definition.segments[next]) { event.target.value = name; return; }
          definition.segments = Object.fromEntries(Object.entries(definition.segments).map(([key, value]) => [key === name ? next : key, value]));
          draw(); update();
        }}), make("button", {type: "button", className: "button small quiet icon-only", ariaLabel: `Remove the segment ${name}`, textContent: "×", onclick: () => { delete definition.segments[name]; if (!Object.keys(definition.segments).length) delete definition.segments; draw(); update(); }})),
        make("textarea", {className: "mono", rows: 3, ariaLabel: `Install IDs of ${name}, one a line`, placeholder: "Install IDs, one a line", value: members.join("\n"), oninput: event => { definition.segments[name] = words(event.target.value); update(); }})));
      return [...rows, make("div", {}, make("button", {type: "button", className: "button small", textContent: "Add a segment", onclick: () => {
        let name = "testers", count = 1;
        while (definition.segments?.[name]) name = `testers-${++count}`;
        definition.segments = {...definition.segments, [name]: []};
        draw(); update();
      }}))];
    };

    const numberField = (label, hint, key, scale) => make("label", {className: "field"}, make("span", {textContent: label}), make("span", {className: "hint", textContent: hint}), make("input", {
      inputMode: "decimal", value: definition[key] === undefined ? "" : definition[key] / scale,
      oninput: event => { const text = event.target.value.trim(); if (text === "") delete definition[key]; else definition[key] = scale === 1 ? Number(text) : Math.round(Number(text) * scale); update(); },
    }));

    /** The steps of a rollout: one line of percentages, and what holds for each of them. */
    const rampPart = () => {
      const steps = definition.rollout?.steps ?? [], first = steps[0] ?? {};
      const each = change => { for (const step of definition.rollout?.steps ?? []) change(step); update(); };
      const field = (label, hint, input) => make("label", {className: "field"}, make("span", {textContent: label}), make("span", {className: "hint", textContent: hint}), input);
      const gate = (key, value) => make("input", {inputMode: "decimal", value: value ?? "", oninput: event => {
        const text = event.target.value.trim();
        each(step => { if (text === "") delete step[key]; else step[key] = Number(text); });
      }});
      const wait = make("input", {type: "checkbox", checked: first.waitsForPerson === true, onchange: event => each(step => { if (event.target.checked) step.waitsForPerson = true; else delete step.waitsForPerson; })});
      const halt = make("select", {onchange: event => { definition.rollout.onHalt = event.target.value; update(); }});
      for (const [value, text] of [["previous", "Give its devices the same release as the others"], ["keep", "Stay at this step: no further device gets it"], ["bundled", "Give all devices the models of the app"]]) halt.append(make("option", {value, textContent: text, selected: value === (definition.rollout?.onHalt ?? "previous")}));
      const gates = make("div", {className: "editor-more", hidden: !definition.rollout},
        field("Hours at each step, at least", "24 by default.", gate("hours", first.hours)),
        field("Devices that must run it before the next step", "None by default.", gate("devices", first.devices)),
        make("label", {className: "check"}, wait, make("span", {textContent: "Someone must approve each step"})),
        field("When too many devices fail", "The rollout stops automatically; then:", halt));
      const line = make("input", {value: steps.map(step => step.percentage).join(", "), placeholder: "1, 5, 25, 100", inputMode: "decimal", autocomplete: "off", oninput: event => {
        const shares = words(event.target.value).map(text => Number(text.replace("%", "")));
        if (!shares.length) delete definition.rollout;
        else {
          const gate = {...(definition.rollout?.steps?.[0] ?? {})};
          definition.rollout = {...definition.rollout, steps: shares.map(percentage => ({...gate, percentage}))};
          delete definition.percentage;
        }
        gates.hidden = !definition.rollout;
        $("[data-others=default]", place).hidden = !definition.rollout && definition.percentage === undefined && definition.rest === undefined;
        update();
      }});
      return make("div", {className: "editor-more"}, field("Steps in percent", "More and more devices get it as long as it does not fail on them. Leave this empty for all at once.", line), gates);
    };

    let isMoreOpen = false, isRampOpen;
    const draw = () => {
      for (const rule of definition.rules) if (rule.parts) rule.when = rule.parts();
      const focus = place.contains(document.activeElement) ? $$("input, select, button, textarea", place).indexOf(document.activeElement) : -1;
      const more = make("details", {className: "raised", open: isMoreOpen, ontoggle: event => { isMoreOpen = event.target.open; }}, make("summary", {textContent: "Hold-out group, segments, checks, date, emergency floor"}), make("div", {className: "editor-more"},
        numberField("Held out, in percent", "Devices that stay with the models of the app, so that others can be compared with them.", "holdout", 1),
        numberField("Hours between two checks", "6 by default; 5 minutes to 30 days.", "pollInterval", 3600),
        make("label", {className: "field"}, make("span", {textContent: "Not before"}), make("span", {className: "hint", textContent: "A date in UTC: once activated, it goes live automatically at that time."}), make("input", {type: "datetime-local", value: definition.start?.slice(0, 16) ?? "", oninput: event => { if (event.target.value) definition.start = event.target.value.slice(0, 16) + ":00Z"; else delete definition.start; update(); }})),
        numberField("Emergency floor", "Every device refuses releases below this number, even if they are installed.", "minimumRelease", 1),
        ...segmentsPart()));
      place.replaceChildren(
        ...definition.rules.map(ruleCard),
        make("div", {}, make("button", {type: "button", className: "button small", "data-add": "", textContent: "＋ Add a rule", onclick: () => {
          let id = definition.rules.length + 1;
          while (definition.rules.some(rule => rule.id === `rule-${id}`)) id += 1;
          definition.rules.push({id: `rule-${id}`, when: {attribute: "deviceClass", operator: "is", values: ["tablet"]}, serve: data.releases[0]?.number ?? "bundled"});
          draw(); update();
          $("select", $$(".rule-card", place)[definition.rules.length - 1]).focus();
        }})),
        make("div", {className: "rule-card default-card", role: "group", ariaLabel: definition.rules.length ? "All other devices" : "All devices"},
          make("div", {className: "rule-head"}, make("span", {className: "rule-number", textContent: "∗"}), make("strong", {textContent: definition.rules.length ? "All other devices" : "All devices"})),
          serveRow(definition, "default", {word: "get", rest: "models of the app"}),
          make("details", {className: "raised", open: isRampOpen ?? Boolean(definition.rollout), ontoggle: event => { isRampOpen = event.target.open; }}, make("summary", {textContent: "Roll out in steps"}), rampPart())),
        more);
      for (const each of data.attributes) if (each.values.length && !document.getElementById(`values-${each.name}`)) document.body.append(make("datalist", {id: `values-${each.name}`}, ...each.values.map(value => make("option", {value}))));
      if (focus >= 0) $$("input, select, button, textarea", place)[focus]?.focus();
    };

    const plain = () => ({...definition, rules: definition.rules.map(({parts, ...rule}) => ({...rule, when: parts ? parts() : rule.when}))});
    const ask = previewer(data.preview, () => ({
      definition: JSON.parse(area.value), device: described($(".who")), name: form.elements.name.value, environment: form.elements.environment?.value,
    }));
    const update = () => { area.value = JSON.stringify(plain(), null, 2); ask(); };
    const read = () => {
      try {
        definition = JSON.parse(area.value);
        definition.rules = Array.isArray(definition.rules) ? definition.rules : [];
        place.hidden = false;
        draw();
      } catch { place.hidden = true; $("#json-part").open = true; }
      ask();
    };
    area.addEventListener("change", read);
    form.addEventListener("input", event => { if (event.target.name) ask(); });
    $(".who").addEventListener("input", ask);
    read();
  }

  // MARK: Live counters

  const live = $("[data-events]");
  if (live) {
    const source = new EventSource(live.dataset.events);
    let state;
    source.onmessage = event => {
      const counters = JSON.parse(event.data);
      for (const place of $$("[data-live]")) if (counters[place.dataset.live] !== undefined) place.textContent = counters[place.dataset.live];
      if (state !== undefined && counters.live !== state) toast("The live deployment has changed. ", make("a", {href: location.pathname + location.search, textContent: "Show it"}));
      state = counters.live;
    };
    addEventListener("pagehide", () => source.close());
  }
})();
