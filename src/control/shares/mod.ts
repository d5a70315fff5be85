/** Shares: the routes of agents and gateways. Its folders have doors of their own. */
export { addMachineRoutes } from './machine-routes.ts';
