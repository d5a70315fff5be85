/** JSON Schema of both front doors. */
export { schemaCompiler, type ErrorObject, type ValidateFunction } from './schema-compiler.ts';
