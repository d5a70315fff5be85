/** Shares: the routes of agents and gateways. Its folders have doors of their own. */
export { GatewayCommands } from './gateway-feed/gateway-commands.ts';
export { addMachineRoutes } from './machine-routes.ts';
