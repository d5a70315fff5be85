/**
 * What each control of the console does when someone presses it, by its page and its label without names and numbers. A control of a
 * dialog has the label of what opens the dialog before it.
 */
import { FRONTDOOR_EFFECTS } from './frontdoor-effect-table.ts';
import { MESH_EFFECTS } from './mesh-effect-table.ts';
import { SETTINGS_EFFECTS } from './settings-effect-table.ts';
import { SHARE_EFFECTS } from './share-effect-table.ts';

type Rows = Readonly<Record<string, string>>;

/** Controls that do the same wherever they are. */
const EVERYWHERE: readonly (readonly [label: RegExp, effect: string])[] = [
  [/^(.* › )?(Close|Cancel)$/, 'closes'],
  [/^(.* › )?Copy$/, 'copied'],
  [/^Sort by /, 'address ?sort'],
  [/^View$/, 'dialog View'],
  [/^Export$/, 'shows CSV file'],
  [/^Export › (CSV|JSON) file$/, 'file'],
];

/** The effect that the rows of a place have for a control; undefined if it has no row. */
export function effectOf(label: string, rows: Rows): string | undefined {
  return rows[label] ?? EVERYWHERE.find(([pattern]) => pattern.test(label))?.[1];
}

/** Controls that are there only while something happens to be open, to wait or to fail. */
export const SOMETIMES: readonly RegExp[] = [
  /a failure$/,
  /^\/mesh\/circuits (Any|Actions|View|Export|.* › )/,
  /^\/activity (Back|Next)$/,
  /^\/frontdoors\/\$frontdoorId (broken|app|agent|apps\.filled\.example)$/,
];

/** By the route of the page. */
export const EFFECTS: Readonly<Record<string, Rows>> = {
  ...SHARE_EFFECTS,
  ...FRONTDOOR_EFFECTS,
  ...MESH_EFFECTS,
  ...SETTINGS_EFFECTS,
};
