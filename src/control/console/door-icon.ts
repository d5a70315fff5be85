/** The icon of the console's pages, a door, as a data URL: browsers look for one at the top of the origin otherwise. */
export const DOOR_ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect x="3" y="1" width="10" height="14" rx="1" ' +
    'fill="#1971c2"/><circle cx="10.5" cy="8" r="1" fill="#fff"/></svg>',
)}`;
