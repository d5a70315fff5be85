/** Describes the fields of the router file for editors, the annotated example and the reference page. */
import { formatGoDuration } from '#base';
import { notesOf, type Field, type FieldNotes } from './schema-field.ts';

/** Returns the description with bounds and units, which editors show beside the key. */
export function describe(field: Field): string {
  const { isLegacy, isUnsupported, bindings } = notesOf(field);
  return [
    field.description ?? '',
    ...(bindings === undefined ? [] : [`With the binding ${bindings.join(' or ')}.`]),
    ...(isLegacy === true ? ['Has no effect.'] : []),
    ...(isUnsupported === true ? ['Has no effect in this version.'] : []),
    ...rangeOf(field),
  ].join(' ');
}

/** Returns a text such as `From 1 to 10000.`, or nothing when the bounds are obvious. */
export function rangeOf(field: Field): readonly string[] {
  const { least, most, beyond } = notesOf(field);
  if (most === undefined && (least === undefined || (beyond !== undefined && least <= 1))) return [];
  const words = boundWords(notesOf(field));
  return [`${words[0]!.toUpperCase()}${words.slice(1)}.`];
}

/** Returns a text such as `from 1 to 10000`. One bound at least is given. */
export function boundWords({ least, most, kind }: FieldNotes): string {
  const show = (bound: number): string => showBound(bound, kind);
  if (most !== undefined)
    return least === undefined ? `at most ${show(most)}` : `from ${show(least)} to ${show(most)}`;
  // The smallest possible duration as a bound means "more than 0".
  const isAny = kind === 'duration' && least! > 0 && least! < 1;
  return isAny ? 'more than 0' : `at least ${show(least!)}`;
}

export function showBound(bound: number, kind: FieldNotes['kind']): string {
  return kind === 'duration' ? formatGoDuration(bound) : String(bound);
}
