/** A row of the tables of shapes: texts of this version, of the previous one and of a later one, with the expected result. */
import type { SchemaValue, ShapeProblem, ShapeTraits } from '#base/shapes';

/** A shape of any content. */
export type AnyShape = ShapeTraits & {
  readonly schema: object;
  read(value: unknown, format?: unknown): SchemaValue<unknown> | ShapeProblem;
};

export interface ShapeRow {
  readonly shape: AnyShape;
  /** The text that this version sends. */
  readonly example: unknown;
  /** The text of the previous version, without a number, which reads as the example. Default: the example. */
  readonly older?: unknown;
  /** The rule of the outermost object for unknown fields. */
  readonly unknown: 'ignored' | 'kept' | 'refused';
  /** A later text of the same format with unknown fields deeper inside; reads as the example. */
  readonly newer?: unknown;
}

/** What a later version adds to an object. */
export const later = { later: { may: 'be anything' } };
