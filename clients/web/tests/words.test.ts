/** Every catalogue says what the English one says: the same keys, parameters, plural forms and sections of the rules. */
import { describe, expect, it } from "vitest";

import type { RulesText } from "../src/games";
import type { Text } from "../src/words/en";
import { LANGUAGES, type Catalogue, type Language, type Same } from "../src/words/index.svelte";

const pages = import.meta.glob<Catalogue>("../src/{,away/,proof/,learn/,playground/,account/,live/,people/}words/{en,de,bg,es,fr,it,nl}.ts", { eager: true, import: "default" });
const games = import.meta.glob<Catalogue>("../src/games/*/{words,lesson}/*.ts", { eager: true, import: "default" });
const rules = import.meta.glob<RulesText>("../src/games/*/rules/*.ts", { eager: true, import: "default" });

const OTHERS = LANGUAGES.filter((language) => language !== "en");
const CATALOGUES = englishFiles({ ...pages, ...games });
const RULES = englishFiles(rules);

/** Texts that may read as in English, and in which languages. An entry that no catalogue needs is refused as well. */
const SAME: Same[] = [
  { reason: "the name of this project", keys: /^app\.title$/, languages: OTHERS },
  { reason: "the word is used in these languages too", keys: /^(room\.bot|room\.bot\.name|chat\.title)$/, languages: ["de", "es", "fr", "it", "nl"] },
  { reason: "the word is used in these languages too", keys: /^(home\.bots\.count|rooms\.bot)$/, languages: ["es", "fr", "it", "nl"] },
  { reason: "the word is used in these languages too", keys: /^invite\.link$/, languages: ["de", "it", "nl"] },
  { reason: "the word is used in Italian and Dutch too", keys: /^room\.host$/, languages: ["it", "nl"] },
  { reason: "the same in French and Dutch", keys: /^app\.menu$/, languages: ["fr", "nl"] },
  { reason: "the same in French", keys: /^(room\.options|proof\.detail\.(secret|scores)|over\.points|time\.minutes)$/, languages: ["fr"] },
  { reason: "the word is used in these languages too", keys: /^create\.bots\.usual$/, languages: ["de", "es", "fr"] },
  { reason: "the same in German", keys: /^emote\.wow$/, languages: ["de"] },
  { reason: "the word is used in Italian and Dutch too", keys: /^(settings\.account|account\.title)$/, languages: ["it", "nl"] },
  { reason: "the same in Dutch", keys: /^emote\.sorry$/, languages: ["nl"] },
  ...Object.values(import.meta.glob<Same[]>("../src/games/*/same.ts", { eager: true, import: "default" })).flat(),
];

/** Faults of form: markup, straight quotes, three dots, stray spaces. Without a language: in all but English. */
const FAULTS: { fault: string; pattern: RegExp; language?: Language }[] = [
  { fault: "markup", pattern: /[<>`\\]|&#?\w+;|\*\*|\]\(/ },
  { fault: "a straight quote or apostrophe", pattern: /["']/ },
  { fault: "three dots instead of …", pattern: /\.\.\./ },
  { fault: "a stray space", pattern: /^\s|\s$|\s\s/ },
  { fault: "a space before punctuation that may break", pattern: / [:;!?»]|« / },
  { fault: "a Latin letter in a Bulgarian word", pattern: /(?!Towerhall|verify|QJXKZB|QR)\b[A-Za-z]+|[A-Za-z][а-я]|[а-я][A-Za-z]/i, language: "bg" },
  { fault: "an opening mark is missing", pattern: /^[^¿]*\?|^[^¡]*!/, language: "es" },
  { fault: "a space before high punctuation is missing", pattern: /[^\u202f][;!?]|[^\u00a0]:/, language: "fr" },
];

describe.each(OTHERS)("in the language %s", (language) => {
  it.each(CATALOGUES)("%s has the same keys as English", (english) => {
    expect(Object.keys(translation(english, language)).sort()).toEqual(Object.keys(source(english)).sort());
  });

  it.each(CATALOGUES)("%s keeps parameters and plural forms", (english) => {
    const translated = translation(english, language);
    const wrong = Object.entries(source(english)).flatMap(([key, text]) => mismatches(text, translated[key], language).map((what) => `${key}: ${what}`));
    expect(wrong).toEqual([]);
  });

  it.each(CATALOGUES)("%s says it in words of its own", (english) => {
    const translated = translation(english, language);
    const same = Object.entries(source(english)).filter(([key, text]) => isSame(text, translated[key]) && !allowance(key, language));
    expect(same.map(([key]) => key)).toEqual([]);
  });

  it.each(CATALOGUES)("%s is well formed", (english) => {
    const wrong = Object.entries(translation(english, language)).flatMap(([key, text]) => forms(text).flatMap((form) => faults(form, language).map((fault) => `${key}: ${fault}`)));
    expect(wrong).toEqual([]);
  });

  it.each(RULES)("%s has the same sections, figures and paragraphs as English", (english) => {
    const shape = (text: RulesText) => text.map(({ id, figure, paragraphs }) => ({ id, figure, paragraphs: paragraphs.length }));
    expect(shape(rulesOf(english, language))).toEqual(shape(rules[english]!));
  });

  it.each(RULES)("%s is translated and well formed", (english) => {
    const texts = (sections: RulesText) => sections.flatMap(({ title, paragraphs }) => [title, ...paragraphs]);
    const originals = new Set(texts(rules[english]!));
    for (const text of texts(rulesOf(english, language))) {
      expect(originals).not.toContain(text);
      expect(faults(text, language), text).toEqual([]);
    }
  });
});

describe("each game has a name space", () => {
  const folderOf = (path: string) => /games\/([^/]+)\//.exec(path)![1]!;

  it.each(Object.keys(games))("%s: all keys begin with the name of the game", (path) => {
    expect(Object.keys(games[path]!).filter((key) => !key.startsWith(`${folderOf(path)}.`))).toEqual([]);
  });

  it.each(Object.keys(pages))("%s: no key of the page does", (path) => {
    const folders = Object.keys(games).map(folderOf);
    expect(Object.keys(pages[path]!).filter((key) => folders.includes(key.split(".")[0]!))).toEqual([]);
  });
});

it("no allowance for English words is left over", () => {
  const needed = ({ keys, languages }: (typeof SAME)[number]) =>
    languages.every((language) => CATALOGUES.some((english) => Object.entries(source(english)).some(([key, text]) => keys.test(key) && isSame(text, translation(english, language)[key]))));
  expect(SAME.filter((entry) => !needed(entry)).map((entry) => String(entry.keys))).toEqual([]);
});

/** The paths of the English files. */
function englishFiles(files: Record<string, unknown>): string[] {
  return Object.keys(files).filter((path) => path.endsWith("/en.ts"));
}

function source(english: string): Catalogue {
  return pages[english] ?? games[english]!;
}

function translation(english: string, language: Language): Catalogue {
  const path = english.replace("/en.ts", `/${language}.ts`);
  const found = pages[path] ?? games[path];
  if (!found) throw new Error(`${path} is missing`);
  return found;
}

function rulesOf(english: string, language: Language): RulesText {
  const path = english.replace("/en.ts", `/${language}.ts`);
  const found = rules[path];
  if (!found) throw new Error(`${path} is missing`);
  return found;
}

function forms(text: Text): string[] {
  return typeof text === "string" ? [text] : Object.values(text);
}

/** The text as it is read: a parameter has no letters of its own. */
function filled(form: string): string {
  return form.replace(/\{\w+\}/g, "1");
}

function parameters(form: string): string[] {
  return [...new Set(form.match(/\{[^}]*\}?/g))].sort();
}

/** What of the English text the translation does not keep. */
function mismatches(english: Text, translated: Text | undefined, language: Language): string[] {
  if (translated === undefined) return ["missing"];
  const wanted = parameters(typeof english === "string" ? english : english.other);
  if (typeof translated === "string") {
    if (typeof english !== "string") return ["has no plural forms"];
    return parameters(translated).join() === wanted.join() ? [] : [`has ${parameters(translated).join()}, not ${wanted.join()}`];
  }
  if (!wanted.includes("{n}")) return ["has plural forms, but no number"];
  const found = Object.entries(translated).flatMap(([form, text]) => {
    // Only the form for one may leave the number out: "the last move".
    const expected = form === "one" && !text.includes("{n}") && typeof english !== "string" ? wanted.filter((name) => name !== "{n}") : wanted;
    return parameters(text).join() === expected.join() ? [] : [`${form} has ${parameters(text).join()}, not ${expected.join()}`];
  });
  const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
  // `many` of Spanish, French and Italian is for millions: it falls back to `other`.
  const needed = categories.filter((category) => category !== "many");
  const given = Object.keys(translated);
  return [
    ...found,
    ...needed.filter((category) => !given.includes(category)).map((category) => `form ${category} is missing`),
    ...given.filter((form) => !(categories as string[]).includes(form)).map((form) => `${language} has no form ${form}`),
  ];
}

function isSame(english: Text, translated: Text | undefined): boolean {
  return translated !== undefined && forms(translated).some((form) => /\p{L}/u.test(filled(form)) && forms(english).includes(form));
}

function allowance(key: string, language: Language): boolean {
  return SAME.some(({ keys, languages }) => keys.test(key) && languages.includes(language));
}

function faults(form: string, language: Language): string[] {
  if (!form.trim()) return ["empty"];
  const plain = filled(form);
  return FAULTS.filter((each) => (each.language ?? language) === language && each.pattern.test(plain)).map(({ fault }) => fault);
}
