/** A checked file that can be shown to others: with defaults, without passwords and private keys. */
import { HIDDEN } from '#base';
import { isPrivateText, notesOf, type Field } from './schema-field.ts';
import { routerFileField, type RouterFile } from './schema/router-file-schema.ts';

export function effectiveView(config: RouterFile): unknown {
  return view(routerFileField, config);
}

function view(field: Field | undefined, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => view(field?.items, item));
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, view(field?.properties?.[key], inner)]),
    );
  return typeof value === 'string' && field !== undefined && isPrivateText(notesOf(field), value)
    ? HIDDEN
    : value;
}
