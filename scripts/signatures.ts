import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { parseSync } from 'oxc-parser';
import { entriesOf } from './counts.ts';
import { root, workspacePackages } from './workspace.ts';

/** A node of the syntax tree. Its members depend on its type, so they are read without a check. */
// biome-ignore lint/suspicious/noExplicitAny: the tree has hundreds of node types.
type Tree = any;

/** A name as another module gives it: the file, and the name there. */
type Origin = readonly [file: string, name: string];

interface Module {
  readonly declared: Map<string, Tree>;
  readonly imported: Map<string, Origin>;
  /** By exported name: a name of the same file, or of another one. */
  readonly exported: Map<string, Origin>;
}

/** Types without a meaning of their own: what they hold is given. */
const wrappers = new Set([
  ...['Promise', 'Awaitable', 'Iterable', 'AsyncIterable', 'Generator', 'AsyncGenerator'],
  ...['Array', 'ReadonlyArray', 'Map', 'ReadonlyMap', 'Set', 'ReadonlySet', 'Readonly', 'Partial'],
]);

/**
 * The types that an exported function or method returns, alone or in a list, a promise or a union, although no entry of its package
 * exports them: a program has such a value, and no name for it. Types of options are not meant.
 */
export function unnamedAnswers(): string[] {
  return workspacePackages()
    .filter(({ folder }) => /^(?:packages|plugins)\//.test(folder))
    .flatMap(({ folder }) => new Package().unnamedIn(folder));
}

class Package {
  readonly #modules = new Map<string, Module>();

  unnamedIn(folder: string): string[] {
    const names = new Map<string, string>();
    for (const entry of entriesOf(folder))
      for (const name of this.#module(entry).exported.keys()) {
        const origin = this.#exported(entry, name);
        if (origin !== null) names.set(origin.join('#'), name);
      }
    const unnamed = new Set<string>();
    for (const key of names.keys()) {
      const [file = '', local = ''] = key.split('#');
      for (const type of answersOf(this.#module(file).declared.get(local))) {
        const origin = this.#declared(file, type);
        if (origin !== null && !names.has(origin.join('#'))) unnamed.add(`${folder}: ${type}`);
      }
    }
    return [...unnamed].sort();
  }

  /** Where a name of a file is declared. Null: in another package, or as a parameter of a type. */
  #declared(file: string, name: string): Origin | null {
    const { declared, imported } = this.#module(file);
    if (declared.has(name)) return [file, name];
    const origin = imported.get(name);
    return origin === undefined ? null : this.#exported(...origin);
  }

  #exported(file: string, name: string): Origin | null {
    if (!existsSync(join(root, file))) return null;
    const origin = this.#module(file).exported.get(name);
    if (origin === undefined) return null;
    return origin[0] === file ? this.#declared(...origin) : this.#exported(...origin);
  }

  #module(file: string): Module {
    const known = this.#modules.get(file) ?? readModule(file);
    this.#modules.set(file, known);
    return known;
  }
}

function readModule(file: string): Module {
  const module: Module = { declared: new Map(), imported: new Map(), exported: new Map() };
  const body: readonly Tree[] = parseSync(file, readFileSync(join(root, file), 'utf8')).program.body;
  for (const statement of body) {
    const from: string | undefined = statement.source?.value;
    const target = from?.startsWith('.')
      ? relative(root, resolve(root, dirname(file), from))
      : (from ?? file);
    if (statement.type === 'ImportDeclaration')
      for (const { local, imported } of statement.specifiers)
        module.imported.set(local.name, [target, imported?.name ?? 'default']);
    else if (statement.type === 'ExportNamedDeclaration' && statement.declaration === null)
      for (const { local, exported } of statement.specifiers)
        module.exported.set(exported.name, [target, local.name]);
    else
      for (const declaration of declarationsOf(statement)) {
        const { name } = declaration.id;
        if (!module.declared.has(name)) module.declared.set(name, declaration);
        if (statement.type === 'ExportNamedDeclaration') module.exported.set(name, [file, name]);
      }
  }
  return module;
}

function declarationsOf(statement: Tree): Tree[] {
  const declaration = statement.declaration ?? statement;
  const all: Tree[] = declaration.type === 'VariableDeclaration' ? declaration.declarations : [declaration];
  return all.filter(({ id }) => typeof id?.name === 'string');
}

/** The names of the types that a function returns, or the public methods of a class or an interface. */
function answersOf(declaration: Tree): string[] {
  switch (declaration?.type) {
    case 'FunctionDeclaration':
    case 'TSDeclareFunction':
      return namesOf(declaration.returnType);
    case 'ClassDeclaration':
      return declaration.body.body.flatMap(({ key, value, type }: Tree) =>
        type === 'MethodDefinition' && key.type !== 'PrivateIdentifier' ? namesOf(value.returnType) : [],
      );
    case 'TSInterfaceDeclaration':
      return declaration.body.body.flatMap(({ type, returnType }: Tree) =>
        type === 'TSMethodSignature' ? namesOf(returnType) : [],
      );
    default:
      return [];
  }
}

function namesOf(type: Tree): string[] {
  switch (type?.type) {
    case 'TSTypeAnnotation':
    case 'TSTypeOperator':
    case 'TSParenthesizedType':
      return namesOf(type.typeAnnotation);
    case 'TSArrayType':
      return namesOf(type.elementType);
    case 'TSUnionType':
    case 'TSIntersectionType':
      return type.types.flatMap(namesOf);
    case 'TSTypeReference':
      if (!wrappers.has(type.typeName.name)) return [type.typeName.name ?? ''];
      return (type.typeArguments?.params ?? []).flatMap(namesOf);
    default:
      return [];
  }
}
