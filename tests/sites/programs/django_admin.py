"""Django's admin of users and groups, signed in but on the page that asks for it; the argument is the port."""

import sys
from pathlib import Path

import django
from django.conf import settings
from django.core.management import call_command

_CONTRIB = ("admin", "auth", "contenttypes", "sessions", "messages", "staticfiles")
settings.configure(
    DEBUG=True,
    SECRET_KEY="of a test",
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF="__main__",
    USE_TZ=True,
    STATIC_URL="static/",
    INSTALLED_APPS=[f"django.contrib.{name}" for name in _CONTRIB],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": Path("django.db").absolute()}},
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "__main__.signed_in",
        "django.contrib.messages.middleware.MessageMiddleware",
    ],
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request",
                    "django.contrib.auth.context_processors.auth",
                    "django.contrib.messages.context_processors.messages",
                ]
            },
        }
    ],
)
django.setup()

from django.contrib import admin  # noqa: E402
from django.contrib.auth.models import Group, User  # noqa: E402
from django.urls import path  # noqa: E402

urlpatterns = [path("admin/", admin.site.urls)]


def signed_in(get_response):
    def respond(request):
        if "login" not in request.path:
            request.user = User.objects.get(username="admin")
        return get_response(request)

    return respond


call_command("migrate", verbosity=0)
User.objects.create_superuser("admin", "admin@example.org", "secret")
for name in ("Kari", "Ola"):
    User.objects.create_user(name)
Group.objects.create(name="Editors")
call_command("runserver", f"127.0.0.1:{sys.argv[1]}", "--noreload", "--insecure")
