export { curlCommand, type CurlRequest } from './curl-command.ts';
export {
  operations,
  type AnswerOf,
  type BodyOf,
  type OperationId,
  type ParameterOf,
} from './operation-table.ts';
export {
  entityTagKindOf,
  IDEMPOTENCY_KEY_FORM,
  takesIdempotencyKey,
  takesIfMatch,
} from './conditional-request-table.ts';
export {
  DEFAULT_NOTIFICATION_EVENTS,
  isNotificationEventType,
  isOfInstallation,
  NOTIFICATION_EVENT_TYPES,
  NOTIFICATION_EVENTS,
  type NotificationEventType,
} from './notification-event-table.ts';
export type { Operation, OperationGroup, QueryParameter } from './operation.ts';
export { needsRecentLogIn } from './recent-log-in-table.ts';
export { changesRights } from './rights-change-table.ts';
export {
  openApiDocument,
  type OpenApiAddresses,
  type OpenApiDocument,
  type OpenApiOperation,
} from './openapi.ts';
export { API_ERRORS, TOKEN_ERRORS, type ApiErrorWord, type TokenErrorWord } from './api-error-table.ts';
export { conventions } from './openapi-head.ts';
export { exampleBodyOf } from './example-body.ts';
export { sheetsByGroup, type OperationSheet } from './operation-sheet.ts';
export { queryProblem, shownName, sortParts, type QueryValues } from './query-policy.ts';
export { formatDescription, stringFormats, type StringFormat } from './format-table.ts';
export { ruleWords, typeWord } from './value-rule.ts';
export { API_VERSION } from './openapi-head.ts';
