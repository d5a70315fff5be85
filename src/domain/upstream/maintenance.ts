/** Maintenance of a share: its gateways answer with 503 instead of asking the service. ADR 0092. */
import { Part, Type, type ShapeOf } from '#base/shapes';

const MAX_TEXT = 1_000;
const MAX_RETRY_S = 604_800;

/** Fields of a share's upstream settings. */
export const maintenanceFields = {
  maintenance: Type.Boolean({
    description:
      'Whether the gateway answers all requests with 503, except paths with an answer of their own. Streams and WebSockets that are open continue',
  }),
  maintenanceText: Type.String({
    maxLength: MAX_TEXT,
    description: 'What callers read during maintenance; empty: a text of the gateway',
  }),
  maintenanceRetrySeconds: Type.Integer({
    minimum: 1,
    maximum: MAX_RETRY_S,
    description: 'Retry-After of the answers during maintenance',
  }),
};

export interface Maintenance {
  readonly maintenance: boolean;
  readonly maintenanceText: string;
  readonly maintenanceRetrySeconds: number;
}

export const DEFAULT_MAINTENANCE: Maintenance = {
  maintenance: false,
  maintenanceText: '',
  maintenanceRetrySeconds: 300,
};

export function changedMaintenance(before: Maintenance, change: Partial<Maintenance>): Maintenance {
  return {
    maintenance: change.maintenance ?? before.maintenance,
    maintenanceText: change.maintenanceText ?? before.maintenanceText,
    maintenanceRetrySeconds: change.maintenanceRetrySeconds ?? before.maintenanceRetrySeconds,
  };
}

/** Control characters except line breaks are refused, because terminals show the text. */
export function maintenanceProblem({ maintenanceText = '' }: Partial<Maintenance>): string | undefined {
  const isText =
    maintenanceText.isWellFormed() && !/[\p{Cc}\p{Cf}]/u.test(maintenanceText.replaceAll('\n', ''));
  return isText ? undefined : 'text without control characters';
}

/** As gateways apply it; absent while there is none. */
export const gatewayMaintenanceSchema = Type.Object({ text: Part.text(), retrySeconds: Type.Integer() });
export type GatewayMaintenance = ShapeOf<typeof gatewayMaintenanceSchema>;

export function gatewayMaintenanceOf(settings: Maintenance): GatewayMaintenance | undefined {
  const { maintenance, maintenanceText: text, maintenanceRetrySeconds: retrySeconds } = settings;
  return maintenance ? { text, retrySeconds } : undefined;
}
