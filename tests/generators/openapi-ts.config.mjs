export default {
    input: './build/openapi.json',
    output: {path: './build/generated/hey-api', module: {extension: '.js'}},
    plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
};
