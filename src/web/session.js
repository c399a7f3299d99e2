// The token of the person who reads the page. It is kept for this tab alone, unless the person asks for more; it is in
// no address, and signing out forgets it with all else that was kept.

const TOKEN = 'callsign.token';

export function savedToken() {
  return sessionStorage.getItem(TOKEN) ?? localStorage.getItem(TOKEN);
}

export function keepToken(token, staySignedIn) {
  forgetAll();
  (staySignedIn ? localStorage : sessionStorage).setItem(TOKEN, token);
}

// Another tab that stays signed in with the same token has signed out.
export function onForgotten(told) {
  window.addEventListener('storage', (event) => {
    if (event.storageArea === localStorage && event.key === TOKEN && event.newValue === null) told(event.oldValue);
  });
}

export function forgetAll() {
  for (const store of [sessionStorage, localStorage]) {
    for (const name of Object.keys(store)) {
      if (name.startsWith('callsign.')) store.removeItem(name);
    }
  }
}

// What a tab remembers over a reload, as JSON.
export function remembered(name, otherwise) {
  try {
    return JSON.parse(sessionStorage.getItem(`callsign.${name}`)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function remember(name, value) {
  try {
    sessionStorage.setItem(`callsign.${name}`, JSON.stringify(value));
  } catch {
    // There is no room. What the tab has in memory goes on.
  }
}
