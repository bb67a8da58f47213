/** Writes API.md, the reference of the TypeScript client, from its types and comments: npm run reference [-- FILE] */

import { writeFileSync } from "node:fs";
import ts from "typescript";

const HEAD = `# Reference of the TypeScript client

Everything that \`towerhall-client\` and \`towerhall-client/json\` export, from types and comments (\`make reference\`). Numbers such as
P-33 are clauses of [the specification](../../protocol/SPEC.md). [The readme](README.md) begins with an example.
`;
const DOORS = ["src/index.ts", "src/json_codec.ts"];
const GROUPS = [
  ["Functions and values", ts.SymbolFlags.Function | ts.SymbolFlags.Variable],
  ["Classes", ts.SymbolFlags.Class],
  ["Types", ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias],
];
const program = ts.createProgram(DOORS, { allowImportingTsExtensions: true, noEmit: true, noLib: true, noResolve: false, types: [] });
const checker = program.getTypeChecker();

/** The text of a comment, on one line. */
function told(symbol) {
  return ts.displayPartsToString(symbol.getDocumentationComment(checker)).replace(/\s+/g, " ").trim();
}

/** A declaration without its body, its comment and its value. */
function shape(node) {
  const text = node.getSourceFile().text;
  const end = node.body?.getFullStart() ?? node.initializer?.getFullStart() ?? node.end;
  const code = text.slice(node.getStart(), end).replace(/\s+=$/, "").replace(/;$/, "");
  return code.replace(/^export /, "").replace(/\s*\n\s*/g, " ").replace(/, \)/, ")").trim();
}

function isPublic(member) {
  const flags = ts.getCombinedModifierFlags(member);
  return member.name && !ts.isPrivateIdentifier(member.name) && !(flags & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected | ts.ModifierFlags.Static));
}

/** The members of a class and of the classes that it extends, its own first. */
function membersOf(node) {
  const base = node.heritageClauses?.find((clause) => clause.token === ts.SyntaxKind.ExtendsKeyword)?.types[0];
  const extended = base && checker.getTypeAtLocation(base.expression).symbol?.declarations?.find(ts.isClassDeclaration);
  const own = node.members.filter((member) => !ts.isConstructorDeclaration(member) && isPublic(member));
  if (!extended || extended.getSourceFile().isDeclarationFile) return own;
  const names = new Set(own.map((member) => member.name.getText()));
  return [...own, ...membersOf(extended).filter((member) => !names.has(member.name.getText()))];
}

function* described(name, symbol) {
  const [node] = symbol.declarations;
  const about = told(symbol);
  yield `### ${name}\n`;
  if (ts.isClassDeclaration(node)) {
    if (!about) throw new Error(`${name} has no comment`);
    yield `${about}\n`;
    const rows = membersOf(node).map((member) => {
      const doc = told(checker.getSymbolAtLocation(member.name));
      return `- \`${shape(member).replace(/^get (\w+)\(\)/, "$1").replace(/^async /, "")}\`${doc ? `: ${doc}` : ""}`;
    });
    const making = node.members.find(ts.isConstructorDeclaration);
    for (const each of making?.parameters.filter((parameter) => ts.isParameterPropertyDeclaration(parameter, making)) ?? []) {
      const doc = told(checker.getSymbolAtLocation(each.name));
      rows.unshift(`- \`${shape(each)}\`${doc ? `: ${doc}` : ""}`);
    }
    if (making) rows.unshift(`- \`${shape(making).replace(/^constructor/, `new ${name}`)}\``);
    if (rows.length) yield `${rows.join("\n")}\n`;
    return;
  }
  const isType = ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
  if (!about && !isType) throw new Error(`${name} has no comment`);
  const code = isType ? node.getText().replace(/^export /, "") : shape(node);
  yield `\`\`\`ts\n${ts.isVariableDeclaration(node) ? `const ${code}` : code}\n\`\`\`\n`;
  if (about) yield `${about}\n`;
}

const found = new Map();
for (const door of DOORS)
  for (const each of checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(door))))
    found.set(each.name, each.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(each) : each);
const names = [...found.keys()].sort((one, other) => (one.toLowerCase() < other.toLowerCase() ? -1 : 1));
const parts = [HEAD];
for (const [title, flags] of GROUPS) {
  parts.push(`## ${title}\n`);
  for (const name of names) if (found.get(name).flags & flags) parts.push(...described(name, found.get(name)));
}
writeFileSync(process.argv[2] ?? "API.md", parts.join("\n"));
console.log(`reference: ${names.length} names of the TypeScript client`);
