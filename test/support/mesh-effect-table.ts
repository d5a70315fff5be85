/** What each control of pages of the mesh does when someone presses it, as `console-effect-table.ts` describes. */

export const MESH_EFFECTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/mesh': {
    'Zoom in': 'shows N%',
    'router, connected': 'page /mesh/routers/$routerId',
    N: 'page /mesh/routers/$routerId',
    router: 'page /mesh/routers/$routerId',
    Explain: 'page /mesh/failures/$errorId',
  },
  '/mesh/routers': {
    'New router': 'dialog New router',
    'New router › Create': 'asks createRouter',
    router: 'page /mesh/routers/$routerId',
  },
  '/mesh/routers/$routerId': {
    Delete: 'dialog Delete router',
    'Delete › Delete': 'asks deleteRouter',
    Circuits: 'page /mesh/circuits',
    Terminators: 'page /mesh/terminators',
    Inspect: 'page /mesh/inspect',
    Save: 'asks changeRouter',
  },
  '/mesh/gateways': {
    'New gateway': 'dialog New gateway',
    'New gateway › Create': 'asks createGateway',
    gateway: 'page /mesh/gateways/$gatewayId',
  },
  '/mesh/gateways/$gatewayId': {
    Delete: 'dialog Delete gateway',
    'Delete › Delete': 'asks deleteGateway',
  },
  '/mesh/links': {},
  '/mesh/circuits': {
    Any: 'address ?routerId',
    Actions: 'shows Follow',
    'Actions › Follow': 'asks inspectRouters',
    'Actions › Close circuit': 'dialog Close circuit',
    'Actions › Close circuit › Close circuit': 'asks endCircuit',
  },
  '/mesh/services': {
    'New service': 'dialog New service',
    'New service › Create': 'asks createFabricService',
    service: 'page /mesh/services/$serviceId',
  },
  '/mesh/services/$serviceId': {
    Delete: 'dialog Delete service',
    'Delete › Delete': 'asks deleteFabricService',
    Save: 'asks changeFabricService',
    Terminators: 'page /mesh/terminators',
  },
  '/mesh/terminators': {
    'New terminator': 'dialog New terminator',
    'New terminator › Create': 'asks createTerminator',
    Any: 'address ?routerId',
    'an id': 'page /mesh/terminators/$terminatorId',
  },
  '/mesh/terminators/$terminatorId': {
    Delete: 'dialog Delete terminator',
    'Delete › Delete': 'asks deleteTerminator',
    Save: 'asks changeTerminator',
  },
  '/mesh/inspect': {
    Inspect: 'asks inspectRouters',
  },
  '/mesh/failures/$errorId': {},
};
