/** Describes the fields of the router file for editors, the annotated example and the reference page. */
import { formatGoDuration } from '#base';
import { notesOf, type Field } from './schema-field.ts';

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
  const { least, most, kind, beyond } = notesOf(field);
  const isDuration = kind === 'duration';
  const show = (bound: number): string => (isDuration ? formatGoDuration(bound) : String(bound));
  if (most !== undefined)
    return [least === undefined ? `At most ${show(most)}.` : `From ${show(least)} to ${show(most)}.`];
  if (least === undefined || (beyond !== undefined && least <= 1)) return [];
  // The smallest possible duration as a bound means "more than 0".
  return [isDuration && least > 0 && least < 1 ? 'More than 0.' : `At least ${show(least)}.`];
}
