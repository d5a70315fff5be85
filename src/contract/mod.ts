export {
  operations,
  SCOPES,
  type Operation,
  type OperationId,
  type QueryParameter,
  type Scope,
} from './operation-table.ts';
export { stringFormats, type StringFormat } from './format-table.ts';
export {
  errorSchema,
  type EnvironmentEntry,
  type NewFabricNodeBody,
  type NewFrontdoorBody,
  type NewShareBody,
  type ShareAnswer,
  type ShareChangeBody,
} from './resource-schemas.ts';
