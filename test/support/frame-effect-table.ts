/** What each control of the console's frame does when someone presses it, as `console-effect-table.ts` has those of pages. */

export const FRAME_EFFECTS: Readonly<Record<string, string>> = {
  Frontdoor: 'page /frontdoors/$frontdoorId/',
  Search: 'dialog Search',
  'N things need attention': 'shows Needs attention',
  operator: 'shows Your account',
  Overview: 'page /frontdoors/$frontdoorId/',
  Shares: 'page /frontdoors/$frontdoorId/shares',
  Agents: 'page /frontdoors/$frontdoorId/agents',
  'Sign-in providers': 'page /frontdoors/$frontdoorId/providers',
  Policies: 'page /frontdoors/$frontdoorId/policies',
  'Custom domains': 'page /frontdoors/$frontdoorId/domains',
  Requests: 'page /frontdoors/$frontdoorId/requests',
  Failures: 'page /frontdoors/$frontdoorId/failures',
  'Activity log': 'page /activity',
  Settings: 'page /settings/frontdoors',
  Mesh: 'page /mesh/',
};

/** In this order, each in a color scheme of the system. */
export const MENU_EFFECTS: Readonly<Record<string, readonly [effect: string, colors: 'light' | 'dark']>> = {
  'Your account': ['leaves /console/account', 'dark'],
  'Keyboard shortcuts': ['dialog Keyboard shortcuts', 'dark'],
  'Take the tour': ['shows Step N of N', 'dark'],
  Light: ['shows language en, colors light', 'dark'],
  Dark: ['shows language en, colors dark', 'dark'],
  System: ['shows language en, colors light', 'light'],
  Deutsch: ['shows language de, colors light', 'light'],
  English: ['shows language en, colors light', 'light'],
  'Sign out': ['leaves /console/log-in', 'light'],
};
