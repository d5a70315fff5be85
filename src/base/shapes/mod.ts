/** Schemas of files and messages of our own, and what a reader finds wrong in them. */
export { jsonReader, readJsonObject } from './json-reader.ts';
export { Type } from './schema-builder.ts';
export * as Part from './schema-parts.ts';
export {
  compileReader,
  type LostEntry,
  type SchemaValue,
  type Refinement,
  type UnreadValue,
  type SchemaReader,
  type ShapeOf,
} from './schema-reader.ts';
export { schemaProblems, type PlacedProblem, type ValuePath } from './schema-problems.ts';
export { shortPatternOf } from './short-pattern.ts';
export { FORMAT_HEADER, lostShapeEntries, Shape, type ShapeProblem, type ShapeTraits } from './shape.ts';
export {
  FILE_START,
  fileProblemLine,
  inFileOrder,
  type FilePosition,
  type FileProblem,
} from './file-problem.ts';
