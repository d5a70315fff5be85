export {
  loadEnrollableRouterConfig,
  loadRouterConfig,
  loadRunnableRouterConfig,
  namesAnything,
  parseRouterConfig,
} from './router-file.ts';
export { checkRouterFile, routerSchemaText, type RouterCheckOptions } from './router-check.ts';
export { routerFileJsonSchema } from './file-json-schema.ts';
export { rangeOf } from './field-words.ts';
export { notesOf, type Field, type FieldNotes } from './schema-field.ts';
export type { TextKind } from './text-kinds.ts';
export { routerFileField } from './schema/router-file-schema.ts';
