/** Adds the routes for agents and gateways to the server of the edge API, whose certificates they present. */
import type { FastifyInstance } from 'fastify';
import type { ShareCatalog } from './catalog/share-catalog.ts';
import type { LoginParts } from './logins/login-parts.ts';
import { addAgentRoutes, type AgentContext } from './agent-api/agent-routes.ts';
import type { GatewayCommands } from './gateway-feed/gateway-commands.ts';
import { GatewayFeed } from './gateway-feed/gateway-feed.ts';
import { addGatewayLoginRoutes } from './gateway-feed/gateway-login-routes.ts';
import { addGatewayRecordRoutes } from './gateway-feed/gateway-record-routes.ts';
import { addGatewayRoutes, type GatewayStreams } from './gateway-feed/gateway-routes.ts';
import { addMetricRoutes } from './gateway-feed/metric-routes.ts';

export interface MachineParts {
  readonly catalog: ShareCatalog;
  /** Log-ins at shares. */
  readonly login: LoginParts;
  /** Sends commands to gateways that follow the feed here. */
  readonly gatewayCommands: GatewayCommands;
  /** Epoch of the feed. */
  readonly instanceId: string;
}

/** Returns the streams of gateways, which end with the server. */
export function addMachineRoutes(
  app: FastifyInstance,
  context: AgentContext,
  { catalog, login, gatewayCommands, instanceId }: MachineParts,
): GatewayStreams {
  addAgentRoutes(app, context);
  addMetricRoutes(app, context);
  addGatewayLoginRoutes(app, context, login);
  addGatewayRecordRoutes(app, context, catalog);
  return addGatewayRoutes(app, context, {
    feed: new GatewayFeed(catalog, login.access, instanceId),
    commands: gatewayCommands,
    instanceId,
  });
}
