/** Routers and gateways differ in the names of their operations, the command that enrolls them, and one column. */
import type { AnswerOf } from '#contract';

export type MeshNode =
  | AnswerOf<'listRouters'>['content'][number]
  | AnswerOf<'listGateways'>['content'][number];

export interface NodeKind {
  readonly path: 'routers' | 'gateways';
  /** The text of the button that creates one. */
  readonly create: 'newRouter' | 'newGateway';
  /** Takes the token to the machine of the new node. */
  readonly enrollCommand: string;
  /** The last column of the list. */
  readonly lastColumn: 'edgeAddress' | 'created';
  readonly list: 'listRouters' | 'listGateways';
  /** As the stream of changes names it. */
  readonly kind: 'router' | 'gateway';
  readonly operation: 'createRouter' | 'createGateway';
}

export const ROUTERS: NodeKind = {
  path: 'routers',
  create: 'newRouter',
  enrollCommand: 'frontdoor router enroll router.yml --jwt router.jwt',
  lastColumn: 'edgeAddress',
  list: 'listRouters',
  kind: 'router',
  operation: 'createRouter',
};

export const GATEWAYS: NodeKind = {
  path: 'gateways',
  create: 'newGateway',
  enrollCommand: 'frontdoor gateway --enrollment-jwt gateway.jwt',
  lastColumn: 'created',
  list: 'listGateways',
  kind: 'gateway',
  operation: 'createGateway',
};
