// Stores the user's token, for this tab only unless the user chooses to stay signed in. The token is never part of an
// address. Signing out deletes it with all other stored data.

const TOKEN = 'callsign.token';

export function savedToken() {
  return sessionStorage.getItem(TOKEN) ?? localStorage.getItem(TOKEN);
}

export function keepToken(token, staySignedIn) {
  forgetAll();
  (staySignedIn ? localStorage : sessionStorage).setItem(TOKEN, token);
}

// Calls told(token) when another tab that stays signed in has signed out.
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

// Returns a value that was stored in this tab as JSON, or `otherwise`. Survives a reload.
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
    // Storage is full or disabled: the value stays in memory only.
  }
}
