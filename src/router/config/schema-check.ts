/**
 * Checks the tree of a file against the schema: types, bounds, kinds of text and unknown keys, for which the nearest
 * known key is suggested. Fills in defaults. Checking continues after errors. An invalid value is omitted, or replaced
 * by its default where the schema only warns.
 */
import { formatGoDuration, misspelledName, nearestNames, parseGoDuration } from '#base';
import { FILE_START, type FilePosition } from '#base/shapes';
import { boundWords, showBound } from './field-words.ts';
import { emptyMap, type FileEntry, type FileMap, type FileNode, type FileScalar } from './file-tree.ts';
import type { ProblemList } from './problem-list.ts';
import { isNeeded, isPrivateText, notesOf, timerMs, type Field } from './schema-field.ts';
import { kindRow, type NetworkInterfaces } from './text-kinds.ts';

interface Place extends FilePosition {
  readonly path: string;
  /** Binding of the enclosing list item, or undefined. */
  readonly binding: string | undefined;
  /** True inside a section where problems are only warnings. */
  readonly isLenient: boolean;
  /** True if the bounds apply here. */
  readonly isBounded: boolean;
}

/** Rules whose violation allows the default as a replacement: a value out of bounds, or a path that became empty. */
const BOUND_RULES: readonly string[] = ['minimum', 'maximum', 'path'];

const KIND_WORDS: Readonly<Record<FileNode['kind'], string>> = {
  null: 'nothing',
  text: 'a text',
  integer: 'a whole number',
  float: 'a number with a fraction',
  flag: 'true or false',
  list: 'a list',
  map: 'a map',
};

export class SchemaCheck {
  readonly #problems: ProblemList;
  readonly #interfaces: NetworkInterfaces;

  constructor(problems: ProblemList, interfaces: NetworkInterfaces) {
    this.#problems = problems;
    this.#interfaces = interfaces;
  }

  /** Returns the values of the file with all defaults; undefined when the file is not a map. */
  check(schema: Field, root: FileNode): unknown {
    const place = { path: '', ...FILE_START, binding: undefined, isLenient: false, isBounded: true };
    return this.#check(schema, root, place);
  }

  #check(field: Field, node: FileNode, place: Place): unknown {
    if (field.const !== undefined) return this.#checkConstant(field, node, place);
    switch (field.type) {
      case 'object':
        return this.#checkMap(field, node, place);
      case 'array':
        return this.#checkList(field, node, place);
      case 'integer':
      case 'number':
        return this.#checkNumber(field, node, place);
      case 'boolean':
        return node.kind === 'flag' ? node.value : this.#wrongKind(field, node, place, 'true or false');
      case 'string':
        return field.enum === undefined
          ? this.#checkText(field, node, place)
          : this.#checkWord(field, node, place);
      default:
        // The value of a legacy key is not checked.
        return undefined;
    }
  }

  #checkConstant(field: Field, node: FileNode, place: Place): unknown {
    if (node.kind !== 'integer') return this.#wrongKind(field, node, place, `${String(field.const)}`);
    if (node.value === field.const) return node.value;
    return this.#wrong(field, node, place, 'version', `must be ${String(field.const)}`);
  }

  #checkMap(field: Field, node: FileNode, place: Place): unknown {
    const notes = notesOf(field);
    if (node.kind !== 'map') {
      const isLenient = place.isLenient || notes.isKindLenient === true || notes.isLenient === true;
      this.#wrongKind(field, node, { ...place, isLenient }, 'a map');
      return isLenient ? this.#absent(field, place) : undefined;
    }
    const properties = field.properties ?? {};
    const entries = this.#knownEntries(properties, node, place, notes.isAnyCase === true);
    const bindingNode = entries.get('binding')?.node;
    const binding = bindingNode?.kind === 'text' ? String(bindingNode.value) : place.binding;
    const inside = { ...place, binding, isLenient: place.isLenient || notes.isLenient === true };
    const result: Record<string, unknown> = {};
    for (const [key, child] of Object.entries(properties)) {
      const entry = entries.get(key);
      const at = { ...inside, path: place.path === '' ? key : `${place.path}.${key}` };
      const value =
        entry === undefined
          ? this.#missing(child, key, field, at)
          : this.#checkEntry(child, entry, entries, { ...at, line: entry.line, column: entry.column });
      if (value !== undefined) result[key] = value;
    }
    bringIntoStep(properties, result);
    return result;
  }

  /**
   * Returns the schema's spelling of each key. Warns of keys that are not in the schema; a section that is probably a
   * misspelled one is an error, because the router would run without that section.
   */
  #knownEntries(
    properties: Readonly<Record<string, Field>>,
    { entries }: FileMap,
    { path, binding }: Place,
    isAnyCase: boolean,
  ): ReadonlyMap<string, FileEntry> {
    const names = Object.keys(properties);
    const isBesideSecrets = Object.values(properties).some((field) => notesOf(field).isSecret === true);
    const found = new Map<string, FileEntry>();
    for (const [written, entry] of entries) {
      const known = isAnyCase
        ? names.find((name) => name.toLowerCase() === written.toLowerCase())
        : Object.hasOwn(properties, written)
          ? written
          : undefined;
      if (known === undefined) {
        const at = path === '' ? written : `${path}.${written}`;
        const missing = path === '' ? misspelledName(written, usedNames(properties, binding)) : undefined;
        if (missing !== undefined && !entries.has(missing))
          this.#problems.unknownKey(at, entry, () => `is unknown, and ${missing} is missing`, {
            severity: 'error',
            isBesideSecrets,
          });
        else
          this.#problems.unknownKey(at, entry, () => nearestKey(written, properties, binding), {
            isBesideSecrets,
          });
      } else found.set(known, entry);
    }
    return found;
  }

  #checkEntry(field: Field, entry: FileEntry, beside: ReadonlyMap<string, FileEntry>, place: Place): unknown {
    const notes = notesOf(field);
    const { path } = place;
    const warn = (rule: string, message: string): void =>
      this.#report(field, entry.node, { ...place, isLenient: true }, rule, message);
    if (notes.overriddenBy !== undefined && beside.has(notes.overriddenBy)) {
      warn('ignored', `is ignored: ${notes.overriddenBy} stands beside it`);
      return undefined;
    }
    if (notes.isLegacy === true) {
      warn('no-effect', 'has no effect');
      return undefined;
    }
    if (
      notes.bindings !== undefined &&
      place.binding !== undefined &&
      !notes.bindings.includes(place.binding)
    ) {
      warn('no-effect', `has no effect with the binding ${place.binding}`);
    }
    if (entry.node.kind === 'null' && notes.isEmptyAllowed === true) {
      warn('empty', 'is empty: taken as if it were not there');
      return this.#absent(field, place);
    }
    // Setting the key to its default has no effect, so there is no warning.
    const isDefault =
      'value' in entry.node && field.default !== undefined && entry.node.value === field.default;
    if (notes.isUnsupported === true && !isDefault) {
      warn('unsupported', `${path.split('.').at(-1)!} is known, and has no effect in this version`);
    }
    const isBounded = notes.boundsYieldTo === undefined || !beside.has(notes.boundsYieldTo);
    return this.#check(field, entry.node, { ...place, isBounded });
  }

  #missing(field: Field, key: string, parent: Field, place: Place): unknown {
    const value = this.#absent(field, place);
    if (value === undefined && isNeeded(parent, key)) {
      const { path, line, column } = place;
      this.#problems.reportAt({
        severity: 'error',
        path,
        line,
        column,
        rule: 'required',
        message: 'is missing',
      });
    }
    return value;
  }

  /** Returns the value of a field whose key is missing. */
  #absent(field: Field, place: Place): unknown {
    const { bindings, isFilled } = notesOf(field);
    if (bindings !== undefined && place.binding !== undefined && !bindings.includes(place.binding))
      return undefined;
    if (field.default !== undefined) return structuredClone(field.default);
    return isFilled === true ? this.#checkMap(field, emptyMap(place), place) : undefined;
  }

  #checkList(field: Field, node: FileNode, place: Place): unknown {
    const { isSingleAllowed, isLenient } = notesOf(field);
    const items = field.items!;
    if (node.kind === 'text' && isSingleAllowed === true) {
      const only = this.#check(items, node, place);
      return only === undefined ? undefined : [only];
    }
    const inside = { ...place, isLenient: place.isLenient || isLenient === true };
    if (node.kind !== 'list') return this.#wrongKind(field, node, inside, 'a list');
    if (node.items.length < (field.minItems ?? 0)) {
      return this.#wrong(field, node, inside, 'required', 'must have an entry');
    }
    // An invalid item leaves a gap, so that the indexes of later items stay valid in paths.
    return node.items.map((item, i) =>
      this.#check(items, item, {
        ...inside,
        path: `${place.path}[${i}]`,
        line: item.line,
        column: item.column,
      }),
    );
  }

  #checkNumber(field: Field, node: FileNode, place: Place): unknown {
    const isInteger = field.type === 'integer';
    const isWhole =
      node.kind === 'integer' ||
      (node.kind === 'float' && notesOf(field).isFractionAllowed === true && Number.isInteger(node.value));
    if (!isWhole && (isInteger || node.kind !== 'float' || !Number.isFinite(node.value))) {
      return this.#wrongKind(field, node, place, isInteger ? 'a whole number' : 'a number');
    }
    return this.#bounded(field, node, place, Number(node.value), Number(node.value));
  }

  #checkWord(field: Field, node: FileNode, place: Place): unknown {
    const words = field.enum!;
    if (node.kind !== 'text') return this.#wrongKind(field, node, place, 'a text');
    const valueText = String(node.value);
    const word = words.find((one) =>
      notesOf(field).isAnyCase === true ? one.toLowerCase() === valueText.toLowerCase() : one === valueText,
    );
    if (word !== undefined) return word;
    const last = words.at(-1)!;
    const listed = words.length === 1 ? last : `${words.slice(0, -1).join(', ')} or ${last}`;
    return this.#wrong(field, node, place, 'enum', `must be ${listed}`);
  }

  #checkText(field: Field, node: FileNode, place: Place): unknown {
    const { kind = 'text', integerUnitMs, isZeroAllowed } = notesOf(field);
    if (kind === 'duration') {
      if (node.kind === 'integer' && integerUnitMs !== undefined) {
        const unit = integerUnitMs === 1_000 ? 's' : 'ms';
        const ms = Number(node.value) * integerUnitMs;
        return this.#bounded(field, node, place, ms, `${String(node.value)}${unit}`);
      }
      if (node.kind === 'integer' && node.value === 0 && isZeroAllowed === true) {
        return this.#bounded(field, node, place, 0, '0s');
      }
    }
    if (node.kind !== 'text') {
      const words = kind === 'duration' ? kindRow(kind).words : 'a text';
      return this.#wrongKind(field, node, place, words);
    }
    const valueText = String(node.value);
    const row = kindRow(kind);
    if (row.read(valueText, this.#interfaces) === undefined)
      return this.#wrong(field, node, place, kind, `must be ${row.words}`);
    if (kind !== 'duration') return valueText;
    return this.#bounded(field, node, place, parseGoDuration(valueText)!, valueText);
  }

  /** `value` is in the unit of the bounds, and `valueText` is the same in the form of the file. */
  #bounded(field: Field, node: FileScalar, place: Place, value: number, valueText: number | string): unknown {
    const { least = -Infinity, most = Infinity, beyond, kind } = notesOf(field);
    if ((value >= least && value <= most) || !place.isBounded) return valueText;
    const rule = value < least ? 'minimum' : 'maximum';
    const problem = `must be ${boundWords(notesOf(field))}`;
    if (beyond !== 'clamp') return this.#wrong(field, node, place, rule, problem);
    const nearest = value < least ? least : most;
    const words = showBound(nearest, kind);
    this.#report(field, node, { ...place, isLenient: true }, rule, `${problem}: ${words} is used`);
    return field.type === 'string' ? words : nearest;
  }

  #wrongKind(field: Field, node: FileNode, place: Place, words: string): unknown {
    return this.#wrong(field, node, place, 'type', `must be ${words}, and is ${KIND_WORDS[node.kind]}`);
  }

  /** Returns the default if a warning is enough, otherwise undefined. */
  #wrong(field: Field, node: FileNode, place: Place, rule: string, message: string): unknown {
    const { beyond } = notesOf(field);
    const isLenient = place.isLenient || (beyond === 'default' && BOUND_RULES.includes(rule));
    const usesDefault = isLenient && field.default !== undefined;
    const outcome = usesDefault
      ? `: ${JSON.stringify(field.default).replaceAll('"', '')} is used`
      : isLenient
        ? ': it has no effect'
        : '';
    this.#report(field, node, { ...place, isLenient }, rule, `${message}${outcome}`);
    return usesDefault ? structuredClone(field.default) : undefined;
  }

  #report(field: Field, node: FileNode, place: Place, rule: string, message: string): void {
    const { path, line, column, isLenient } = place;
    const severity = isLenient ? 'warning' : 'error';
    this.#problems.reportAbout(node, { severity, path, line, column, rule, message }, isPrivate(field, node));
  }
}

/** Durations that can be given by either of two keys. */
function bringIntoStep(properties: Readonly<Record<string, Field>>, result: Record<string, unknown>): void {
  for (const [key, field] of Object.entries(properties)) {
    const { millisecondsIn } = notesOf(field);
    if (millisecondsIn === undefined) continue;
    const [text, ms] = [result[key], result[millisecondsIn]];
    if (typeof text === 'string' && ms !== undefined)
      result[millisecondsIn] = timerMs(parseGoDuration(text)!);
    else if (typeof ms === 'number') result[key] = formatGoDuration(ms);
  }
}

function isPrivate(field: Field, node: FileNode): boolean {
  const notes = notesOf(field);
  if (node.kind === 'text') return isPrivateText(notes, String(node.value));
  return notes.isSecret === true && (notes.kind !== 'key' || node.kind === 'list' || node.kind === 'map');
}

/** Returns the keys that have an effect with the binding. */
function usedNames(properties: Readonly<Record<string, Field>>, binding: string | undefined): string[] {
  return Object.keys(properties).filter((name) => {
    const { isLegacy, isUnsupported, bindings } = notesOf(properties[name]!);
    const fits = bindings === undefined || binding === undefined || bindings.includes(binding);
    return fits && isLegacy !== true && isUnsupported !== true;
  });
}

function nearestKey(
  written: string,
  properties: Readonly<Record<string, Field>>,
  binding: string | undefined,
): string {
  const [nearest] = nearestNames(written, usedNames(properties, binding), 1);
  const hint = nearest === undefined ? 'there are no keys here' : `the nearest known key is ${nearest}`;
  return `is unknown and has no effect; ${hint}`;
}
