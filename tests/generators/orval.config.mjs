export default {
    callsign: {
        input: './build/openapi.json',
        output: {
            target: './build/generated/orval.ts', client: 'fetch',
            baseUrl: {runtime: '(globalThis as any).callsignUrl'},
        },
    },
};
