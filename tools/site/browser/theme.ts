/** Applies the appearance that was chosen, before the page is painted. */
const chosen = ((): string | null => {
  try {
    return localStorage.getItem('frontdoor-appearance');
  } catch {
    // Storage is off: the appearance is that of the system.
    return null;
  }
})();
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['appearance'] = chosen;
document.documentElement.classList.add('js');
